-- up
create table events (
  id text primary key, user_hash text not null, campaign_id integer not null,
  kind text not null, at integer not null, value_cents integer not null default 0
);
create index events_by_campaign on events (campaign_id, kind, at);
-- down
drop table events;
