"""The limiter: one per model, cut once per episode, recovering, shared over loops."""

from __future__ import annotations

import asyncio
import threading

from hypothesis import given
from hypothesis import strategies as st

from heldout.llm.limiter import Limiter, limiter_for


def test_one_limiter_per_provider_model_and_url():
    """The same model at the same place shares a limiter; another does not."""
    one = limiter_for("p", "m", "u")
    assert limiter_for("p", "m", "u") is one
    assert limiter_for("p", "other", "u") is not one


def test_it_starts_at_the_asked_concurrency_and_forgets_closed_clients():
    """The ceiling is the highest concurrency of a live client."""
    limiter = Limiter()
    limiter.register(4)
    limiter.register(16)
    assert limiter.limit == 16
    limiter.unregister(16)
    assert limiter.limit == 4


def test_an_episode_cuts_once():
    """Ten 429s of requests begun before the first cut lower the limit once; a later one again."""
    now = [0.0]
    limiter = Limiter(clock=lambda: now[0])
    limiter.register(10)
    now[0] = 1.0
    for _ in range(10):
        limiter.throttle(0.5)
    assert limiter.limit == 7.0
    now[0] = 2.0
    limiter.throttle(1.5)
    assert 4.8 < limiter.limit < 5.0
    assert limiter.throttled == 11


def test_in_flight_never_exceeds_the_limit():
    """Twenty callers share three slots, and each gets one."""

    async def main() -> int:
        limiter = Limiter()
        limiter.register(3)
        peak = 0

        async def caller() -> None:
            nonlocal peak
            async with limiter.slot():
                peak = max(peak, limiter.in_flight)
                await asyncio.sleep(0.001)

        await asyncio.gather(*(caller() for _ in range(20)))
        assert limiter.in_flight == 0
        return peak

    assert asyncio.run(main()) == 3


def test_a_cancelled_waiter_gives_its_slot_on():
    """Cancelling those who wait, granted or not, loses no slot."""

    async def main() -> None:
        limiter = Limiter()
        limiter.register(1)
        release = asyncio.Event()

        async def caller() -> None:
            async with limiter.slot():
                await release.wait()

        tasks = [asyncio.create_task(caller()) for _ in range(4)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        release.set()
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert limiter.in_flight == 0
        async with limiter.slot():
            assert limiter.in_flight == 1

    asyncio.run(main())


def test_two_loops_share_one_limit():
    """Requests from two event loops in two threads never exceed the limit together."""
    limiter = Limiter()
    limiter.register(2)
    peaks: list[int] = []

    async def many() -> None:
        async def caller() -> None:
            async with limiter.slot():
                peaks.append(limiter.in_flight)
                await asyncio.sleep(0.001)

        await asyncio.gather(*(caller() for _ in range(20)))

    threads = [threading.Thread(target=lambda: asyncio.run(many())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(peaks) == 40
    assert max(peaks) <= 2
    assert limiter.in_flight == 0


@given(st.lists(st.sampled_from(["ok", "429"]), max_size=60), st.integers(1, 40))
def test_the_limit_stays_between_one_and_the_ceiling(events: list[str], ceiling: int):
    """No sequence of answers moves the limit out of its range."""
    now = [0.0]
    limiter = Limiter(clock=lambda: now[0])
    limiter.register(ceiling)
    limiter.in_flight = ceiling
    for event in events:
        now[0] += 1.0
        if event == "ok":
            limiter.succeed()
        else:
            limiter.throttle(now[0] - 0.5)
        assert 1.0 <= limiter.limit <= ceiling


def test_roles_have_slots_of_their_own():
    """A judge that fills its slots takes none from the agents, and another URL shares nothing."""
    agent = limiter_for("p", "slots", "u", "agent")
    judge = limiter_for("p", "slots", "u", "judge")
    assert judge is not agent
    assert limiter_for("p", "slots", "u", "judge") is judge
    agent.register(2)
    judge.register(1)

    async def main() -> None:
        async with judge.slot(), agent.slot():
            assert (judge.in_flight, agent.in_flight) == (1, 1)

    asyncio.run(main())


def test_a_429_slows_every_role_of_the_same_quota():
    """What the judge is told about the quota cuts the agents too; another model goes on."""
    roles = [limiter_for("p", "quota", "u", role) for role in ("agent", "judge")]
    other = limiter_for("p", "other-quota", "u", "agent")
    for limiter in (*roles, other):
        limiter.register(10)
    roles[1].throttle(roles[1].clock(), 0.3)
    assert [limiter.limit for limiter in (*roles, other)] == [7.0, 7.0, 10.0]
    assert [limiter.throttled for limiter in roles] == [0, 1]

    async def waited(limiter: Limiter) -> float:
        began = limiter.clock()
        async with limiter.slot() as granted:
            return granted - began

    assert asyncio.run(waited(roles[0])) >= 0.29
    assert asyncio.run(waited(other)) < 0.29
