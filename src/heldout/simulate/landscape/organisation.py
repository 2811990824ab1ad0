"""People and code: teams, logins, bots, stacks and the repositories that hold them."""

from __future__ import annotations

from heldout.simulate.landscape.build import Build

_BOT_WORDS = ("sync", "bump", "rotate", "apply", "merge", "tidy", "label", "stamp")


def lay_organisation(build: Build) -> None:
    """Teams with their people, bots, infrastructure stacks and open pull requests."""
    g, land, book, rng = build.ground, build.land, build.book, build.rng("organisation")
    build.teams = [g.add("Team", f"{book.brand()}-crew") for _ in range(build.plan.teams)]
    for number in range(build.plan.people):
        login = book.person()
        land.people.append(login)
        g.link(g.add("Person", login), "part_of", build.teams[number % len(build.teams)])
    word = book.brand()
    land.bots = tuple(f"{word}-{verb}[bot]" for verb in _BOT_WORDS[: build.plan.bots])
    land.infra = f"{word}-infra"
    repository = g.add("Repository", land.infra, default_branch="main")
    land.repo_of[repository] = land.infra
    for number in range(max(4, build.plan.teams)):
        stack = build.add("IacStack", f"{book.brand()}-stack", version=f"1.{9 + number}.0")
        g.link(stack, "built_from", repository)
        g.link(stack, "owned_by", build.teams[number % len(build.teams)])
        land.repo_of[stack] = land.infra
        build.stacks.append(stack)
    for _ in range(int(rng.integers(4, 9))):
        person = land.people[int(rng.integers(len(land.people)))]
        request = g.add("PullRequest", f"{land.infra}#{5000 + int(rng.integers(900))}")
        g.facts(request, state="open", draft=bool(rng.random() < 0.4))
        g.link(request, "part_of", repository)
        opener = g.find("Person", person)
        if opener is not None:
            g.link(request, "owned_by", opener)
