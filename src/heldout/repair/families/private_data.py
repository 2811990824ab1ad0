"""Private data leaves the house: nothing fails, and only a look at what is said shows it."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.repair.defect import Change, Repair, Template, Truth
from heldout.repair.platform.replay import Partner
from heldout.repair.traffic import Profile

_ERROR = Change(
    "whatsapp_sync/service.py",
    '        raise ApiError(409, "no_consent", "this person did not agree to offers")\n',
    '        raise ApiError(409, "no_consent", f"no consent in {user}")\n',
)
_DEBUG = Change(
    "shared/privacy.py",
    '    return {"id": user["id"], "region": user.get("region", "")}\n',
    '    if settings.flag("DEBUG_RESPONSES", True):\n        return dict(user)\n'
    '    return {"id": user["id"], "region": user.get("region", "")}\n',
)
_DEBUG_IMPORT = Change(
    "shared/privacy.py", "import hashlib\n", "import hashlib\n\nfrom shared import settings\n"
)
_LOG = Change(
    "whatsapp_sync/delivery.py",
    'log.warn("carrier did not take a message", to=masked(phone))',
    'log.warn("carrier did not take a message", to=phone, text=text)',
)
_SENDING = Profile(shares={**Profile().shares, "send": 5.0, "profile": 2.0})


@dataclass(frozen=True, slots=True)
class PrivateData:
    """Unit tests are green; the security suite is not."""

    name: str = "private_data"

    def templates(self) -> tuple[Template, ...]:
        """In an error's text, in answers under a debug switch, in a log line."""
        return (_error(), _debug(), _log())


def _error() -> Template:
    one_field = Change(
        "whatsapp_sync/service.py",
        'f"no consent in {user}"',
        "f\"no consent in { {**user, 'phone': '***'} }\"",
    )
    gone = Change(
        "whatsapp_sync/service.py",
        '    if template.needs_consent and not user["consent"]:\n'
        '        raise ApiError(409, "no_consent", f"no consent in {user}")\n',
        "",
    )
    return Template(
        name="error-text",
        title="a partner reports personal data in answers of whatsapp_sync",
        defect=(_ERROR,),
        truth=Truth(
            "whatsapp_sync", "whatsapp_sync/service.py", "send", "error_body_exposes_data",
            ("whatsapp_sync",), ("shared/api.py", "whatsapp_sync/people.py"),
        ),
        fix=Repair("a text about nobody", (Change(_ERROR.path, _ERROR.new, _ERROR.old),)),
        wrong=(
            Repair("one field masked", (one_field,)),
            Repair("consent is no longer asked for", (gone,)),
        ),
        suite="security",
        profile=_SENDING,
    )  # fmt: skip


def _debug() -> Template:
    one_field = Change(
        "shared/privacy.py",
        "        return dict(user)\n",
        "        return {**user, 'phone': masked(user.get('phone', ''))}\n",
    )
    return Template(
        name="debug-switch",
        title="support tools show more of people than they should since yesterday",
        defect=(_DEBUG, _DEBUG_IMPORT),
        truth=Truth(
            "shared", "shared/privacy.py", "public", "debug_setting_exposes_data",
            ("whatsapp_sync",), ("whatsapp_sync/service.py", "whatsapp_sync/people.py"),
        ),
        fix=Repair("no switch", (Change(_DEBUG.path, _DEBUG.new, _DEBUG.old),)),
        wrong=(Repair("one field masked", (one_field,)),),
        suite="security",
        profile=_SENDING,
        environment={"DEBUG_RESPONSES": "1"},
    )  # fmt: skip


def _log() -> Template:
    silent = Change(
        "whatsapp_sync/delivery.py",
        '        log.warn("carrier did not take a message", to=phone, text=text)\n',
        "",
    )
    return Template(
        name="log-line",
        title="the log scanner found telephone numbers",
        defect=(_LOG,),
        truth=Truth(
            "whatsapp_sync", "whatsapp_sync/delivery.py", "deliver", "log_exposes_data",
            ("whatsapp_sync",), ("shared/log.py", "shared/privacy.py"),
        ),
        fix=Repair("masked", (Change(_LOG.path, _LOG.new, _LOG.old),)),
        wrong=(Repair("nothing is logged any more", (silent,)),),
        suite="security",
        profile=_SENDING,
        partner=Partner(0.12, slow_every=5),
    )  # fmt: skip


FAMILY = PrivateData()
