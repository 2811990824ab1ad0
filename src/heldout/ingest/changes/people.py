"""Who did it: people under stable pseudonyms, and what is no person told apart."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

_BOTS = re.compile(
    r"(?i)(\bbot\b|\[bot\]|-bot\b|renovate|dependabot|github-actions|terraform|pulumi|jenkins"
    r"|argocd|argo-cd|flux|gitlab-ci|circleci|codebuild|codepipeline|ci\b|service-?account|deploy"
    r"|automation|runner)"
)
_CONTROLLERS = re.compile(r"^(system:|kube-|eks:|aks-|gke-|masterclient$|hcp-|cluster-autoscaler)")


class Actor(NamedTuple):
    """A name to show, and what kind of actor it is."""

    name: str
    kind: str


class People:
    """Pseudonyms that are the same for one name within one installation of this program.

    A pseudonym follows from the name alone, so that two imports join; it hides a name from readers,
    not from somebody who can guess it.
    """

    def __init__(self, *, as_they_are: bool = False) -> None:
        self._as_they_are = as_they_are

    def person(self, name: str) -> Actor:
        """A person, or what only looks like one by its name."""
        name = name.strip()
        if not name:
            return Actor("unknown", "person")
        if _CONTROLLERS.match(name):
            return Actor(name, "controller")
        if _BOTS.search(name):
            return Actor(name, "bot")
        if self._as_they_are:
            return Actor(name, "person")
        digest = hashlib.sha256(name.lower().encode("utf-8", "replace")).hexdigest()
        return Actor(f"person-{digest[:6]}", "person")

    def provider(self, name: str) -> Actor:
        """A service of the provider."""
        return Actor(name or "provider", "provider")

    def role(self, role: str, session: str) -> Actor:
        """Somebody who took a role: the session is a person's name more often than not."""
        found = self.person(session) if session else Actor("", "person")
        if found.kind != "person" or not session or session == role:
            return self.person(role) if found.kind == "person" else Actor(found.name, found.kind)
        if re.fullmatch(r"i-[0-9a-f]{8,}|\d{10,}|[0-9a-f-]{20,}", session):
            return Actor(role or "role", "bot")
        return Actor(f"{role}/{found.name}" if role else found.name, "person")
