"""The database of the services: real SQL in memory, with foreign keys on and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_ROWS = 5_000
MAX_STEPS = 2_000_000
"""Virtual machine steps of one statement; a statement that takes more is stopped."""

_DENIED = frozenset(
    {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA}
    | {sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_DROP_VTABLE}
)
_SCHEMA = frozenset(
    {
        sqlite3.SQLITE_CREATE_TABLE,
        sqlite3.SQLITE_CREATE_INDEX,
        sqlite3.SQLITE_CREATE_TRIGGER,
        sqlite3.SQLITE_CREATE_VIEW,
        sqlite3.SQLITE_DROP_TABLE,
        sqlite3.SQLITE_DROP_INDEX,
        sqlite3.SQLITE_DROP_TRIGGER,
        sqlite3.SQLITE_DROP_VIEW,
        sqlite3.SQLITE_ALTER_TABLE,
    }
)


class QueryRefused(Exception):
    """The database refused a statement: ``code`` is a short word, ``detail`` what it said."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Result:
    """Rows as mappings, how many rows a statement changed, and how many it looked at."""

    rows: tuple[Mapping[str, Any], ...]
    changed: int


class Database:
    """One schema with its rows. Statements of services may not change the schema."""

    def __init__(self) -> None:
        self._con = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._con.execute("pragma foreign_keys = on")
        self._open = True
        self._con.set_authorizer(self._allow)
        self._open = False

    def _allow(self, action: int, *_: object) -> int:
        if self._open:
            return sqlite3.SQLITE_OK
        refused = action in _DENIED or action in _SCHEMA
        return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK

    def close(self) -> None:
        """Let go of everything."""
        self._con.close()

    def script(self, sql: str) -> None:
        """Run the platform's own statements: migrations and the first rows, as a whole or not."""
        self._open = True
        self._con.execute("pragma foreign_keys = off")  # Else dropping a table empties others.
        try:
            self._con.executescript(f"begin;\n{sql}\n;commit;")
        except sqlite3.Error as error:
            self._con.executescript("rollback;" if self._con.in_transaction else "")
            raise QueryRefused("script", str(error)) from error
        finally:
            self._con.execute("pragma foreign_keys = on")
            self._open = False

    def query(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Result:
        """Run one statement of a service; what SQLite refuses is :class:`QueryRefused`."""
        spent = [0]

        def too_long() -> int:
            spent[0] += 1
            return spent[0] > MAX_STEPS // 10_000

        self._con.set_progress_handler(too_long, 10_000)
        try:
            cursor = self._con.execute(sql, parameters)
            names = [one[0] for one in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(MAX_ROWS)]
            return Result(tuple(rows), max(cursor.rowcount, 0))
        except sqlite3.IntegrityError as error:
            raise QueryRefused("integrity", str(error)) from error
        except sqlite3.OperationalError as error:
            code = "interrupted" if "interrupt" in str(error) else "operational"
            raise QueryRefused(code, str(error)) from error
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise QueryRefused("refused", str(error)) from error
        finally:
            if self._con.in_transaction:
                self._con.rollback()

    def restore(self, backup: Database, tables: Sequence[str]) -> int:
        """Bring back rows of a backup that are gone, by their ids; how many."""
        brought = 0
        self._open = True
        self._con.execute("pragma foreign_keys = off")
        for table in tables:
            mine = [row[1] for row in self._con.execute(f'pragma table_info("{table}")')]
            rows = backup._con.execute(f'select * from "{table}"')
            names = [one[0] for one in rows.description]
            shared = [name for name in names if name in mine]
            listed, marks = ", ".join(shared), ", ".join("?" * len(shared))
            for row in rows.fetchall():
                values = dict(zip(names, row, strict=True))
                done = self._con.execute(
                    f'insert or ignore into "{table}" ({listed}) values ({marks})',
                    [values[name] for name in shared],
                )
                brought += max(done.rowcount, 0)
        self._con.execute("pragma foreign_keys = on")
        self._open = False
        return brought

    def counts(self) -> dict[str, int]:
        """How many rows each table holds."""
        tables = self._con.execute(
            "select name from sqlite_master where type = 'table' order by name"
        ).fetchall()
        return {
            name: int(self._con.execute(f'select count(*) from "{name}"').fetchone()[0])
            for (name,) in tables
        }

    def dump(self) -> tuple[str, ...]:
        """Schema and rows as statements, in a stable order: equal dumps are equal databases."""
        made = self._con.execute(
            "select type, name, tbl_name, coalesce(sql, '') from sqlite_master order by type, name"
        ).fetchall()
        found = [
            f"{kind} {name} on {table}: {' '.join(sql.split())}"
            for kind, name, table, sql in made
            if kind != "table"
        ]
        found += [
            line for kind, name, _, _ in made if kind == "table" for line in self._shape(name)
        ]
        for table in self.counts():
            rows = self._con.execute(f'select * from "{table}"').fetchall()
            found += sorted(f"{table}: {row!r}" for row in rows)
        return tuple(found)

    def _shape(self, table: str) -> list[str]:
        """A table's columns and foreign keys: how its statement was laid out says nothing."""
        self._open = True
        columns = self._con.execute(f'pragma table_info("{table}")').fetchall()
        keys = self._con.execute(f'pragma foreign_key_list("{table}")').fetchall()
        self._open = False
        return [f"column of {table}: {one[1:]!r}" for one in columns] + sorted(
            f"key of {table}: {one[2:]!r}" for one in keys
        )

    def copy(self) -> Database:
        """Another database with the same schema and rows."""
        other = Database()
        other._con.set_authorizer(None)
        self._con.backup(other._con)
        other._con.execute("pragma foreign_keys = on")
        other._con.set_authorizer(other._allow)
        return other
