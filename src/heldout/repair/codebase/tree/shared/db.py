"""A pool of database connections for each service."""

import asyncio
from contextlib import asynccontextmanager

import host
from shared import settings
from shared.errors import PoolTimeout


class Connection:
    """One connection; ``query`` returns rows, ``execute`` how many rows were changed."""

    def __init__(self, number: int) -> None:
        self.number = number

    async def query(self, sql: str, *parameters: object) -> list[dict]:
        answer = await host.call(
            "db.query", connection=self.number, sql=sql, parameters=list(parameters)
        )
        return answer["rows"]

    async def execute(self, sql: str, *parameters: object) -> int:
        answer = await host.call(
            "db.query", connection=self.number, sql=sql, parameters=list(parameters)
        )
        return answer["changed"]


class Pool:
    """At most ``size`` connections; who finds none waits, and gives up after a while."""

    def __init__(self, service: str) -> None:
        self.service = service
        self.size = settings.POOL_SIZE
        self.free: list[Connection] = []
        self.permits = asyncio.Semaphore(self.size)

    async def acquire(self) -> Connection:
        """A connection; give it back with :meth:`release`, whatever happens."""
        try:
            async with asyncio.timeout(settings.POOL_WAIT_SECONDS):
                await self.permits.acquire()
        except TimeoutError:
            raise PoolTimeout(f"{self.service}: no free connection of {self.size}") from None
        if self.free:
            return self.free.pop()
        try:
            return Connection(await host.call("db.connect", service=self.service))
        except BaseException:
            self.permits.release()
            raise

    def release(self, connection: Connection) -> None:
        """Give a connection back."""
        self.free.append(connection)
        self.permits.release()

    @asynccontextmanager
    async def connection(self):
        """A connection for a block."""
        held = await self.acquire()
        try:
            yield held
        finally:
            self.release(held)


_pools: dict[str, Pool] = {}


def pool(service: str) -> Pool:
    """The pool of a service."""
    if service not in _pools:
        _pools[service] = Pool(service)
    return _pools[service]
