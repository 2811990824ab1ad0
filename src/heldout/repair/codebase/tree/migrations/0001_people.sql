-- up
create table users (
  id integer primary key, email text not null, phone text not null,
  region text not null, consent integer not null default 0
);
create table features (
  user_id integer primary key references users (id) on delete cascade,
  click_rate real not null, recency_hours real not null, segments text not null default ''
);
-- down
drop table features;
drop table users;
