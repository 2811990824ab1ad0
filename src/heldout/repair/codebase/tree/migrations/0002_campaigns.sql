-- up
create table templates (
  id integer primary key, body text not null, needs_consent integer not null default 0
);
create table campaigns (
  id integer primary key, name text not null, segment text not null,
  budget_cents integer not null, spent_cents integer not null default 0,
  active integer not null default 1, template_id integer not null references templates (id)
);
create table creatives (
  id integer primary key,
  campaign_id integer not null references campaigns (id) on delete cascade,
  placement text not null, bid_cents integer not null, quality real not null
);
-- down
drop table creatives;
drop table campaigns;
drop table templates;
