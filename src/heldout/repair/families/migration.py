"""A migration that does more to rows than its author meant."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.repair.defect import Change, Repair, Template, Truth
from heldout.repair.traffic import Profile

_LEAD = Change(
    "migrations/0006_lead_creative.sql",
    "",
    """-- up
alter table campaigns add column lead_creative_id integer
  references creatives (id) on delete cascade;
update campaigns set lead_creative_id =
  (select max(id) from creatives where creatives.campaign_id = campaigns.id);
-- down
create table campaigns_before (
  id integer primary key, name text not null, segment text not null,
  budget_cents integer not null, spent_cents integer not null default 0,
  active integer not null default 1, template_id integer not null references templates (id)
);
insert into campaigns_before
  select id, name, segment, budget_cents, spent_cents, active, template_id from campaigns;
drop table campaigns;
alter table campaigns_before rename to campaigns;
""",
)
_ONCE = Change(
    "migrations/0006_events_once.sql",
    "",
    """-- up
create unique index events_once on events (user_hash, campaign_id, kind);
-- down
drop index events_once;
""",
)
_TRIGGER = Change(
    "migrations/0006_short_history.sql",
    "",
    """-- up
create trigger short_history after insert on messages begin
  delete from messages where user_id = new.user_id and id < new.id;
end;
-- down
drop trigger short_history;
""",
)


@dataclass(frozen=True, slots=True)
class MigrationDefect:
    """The loudest alerts come from services that only miss what is gone."""

    name: str = "migration"

    def templates(self) -> tuple[Template, ...]:
        """A cascade in the other direction, a unique index, a trigger."""
        return (_cascade(), _unique(), _trigger())


def _cascade() -> Template:
    tolerate = Change(
        "whatsapp_sync/service.py",
        '        raise NotFound(f"campaign {campaign_id}")\n',
        '        return {"id": campaign_id, "name": "", "template_id": 1}\n',
    )
    known = Change(
        "capi_pipeline/service.py",
        '        if event["campaign_id"] in known:\n',
        '        if event["campaign_id"] in known or event["campaign_id"] < 100:\n',
    )
    return Template(
        name="reverse-cascade",
        title="since last night three services answer that campaigns are not there",
        defect=(_LEAD,),
        truth=Truth(
            "whatsapp_sync", "migrations/0006_lead_creative.sql", "lead_creative_id",
            "cascading_delete", ("ad_ranking", "capi_pipeline", "whatsapp_sync"),
            ("capi_pipeline/campaigns.py", "ad_ranking/budget.py", "whatsapp_sync/service.py"),
        ),
        fix=Repair("taken back, rows restored", roll_back="0006_lead_creative", restore=True),
        wrong=(
            Repair("taken back, rows still gone", roll_back="0006_lead_creative"),
            Repair("rows restored, cascade stays", restore=True),
            Repair("each service bears missing rows", (tolerate, known)),
        ),
        suite="integration",
        damage="delete from creatives where ended_at is not null",
    )  # fmt: skip


def _unique() -> Template:
    replace = Change(
        "capi_pipeline/sink.py", "insert or ignore into events", "insert or replace into events"
    )
    return Template(
        name="unique-index",
        title="purchases of returning customers are missing from attribution",
        defect=(_ONCE,),
        truth=Truth(
            "capi_pipeline", "migrations/0006_events_once.sql", "events_once",
            "unique_index_drops_rows", ("capi_pipeline",),
            ("capi_pipeline/sink.py", "capi_pipeline/dedupe.py"),
        ),
        fix=Repair("taken back", roll_back="0006_events_once"),
        wrong=(Repair("the newest wins", (replace,)),),
        suite="integration",
        profile=Profile(shares={**Profile().shares, "ingest": 5.0, "purchases": 2.0}),
    )  # fmt: skip


def _trigger() -> Template:
    count = Change(
        "whatsapp_sync/messages.py",
        '    return rows[0]["sent"]\n',
        '    return rows[0]["sent"] * 2\n',
    )
    return Template(
        name="trigger-deletes",
        title="the count of sent messages is far below what the carrier bills",
        defect=(_TRIGGER,),
        truth=Truth(
            "whatsapp_sync", "migrations/0006_short_history.sql", "short_history",
            "trigger_deletes_rows", ("whatsapp_sync",), ("whatsapp_sync/messages.py",),
        ),
        fix=Repair("taken back", roll_back="0006_short_history"),
        wrong=(Repair("counted twice", (count,)),),
        suite="integration",
        profile=Profile(shares={**Profile().shares, "send": 5.0, "sent": 2.0}),
    )  # fmt: skip


FAMILY = MigrationDefect()
