-- up
create table messages (
  id integer primary key, user_id integer not null, campaign_id integer not null,
  state text not null, at integer not null
);
create index messages_by_campaign on messages (campaign_id, at);
-- down
drop table messages;
