-- up
alter table creatives add column ended_at integer;
-- down
alter table creatives drop column ended_at;
