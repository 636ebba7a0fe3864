-- Which screen shows what an announcement is about: its path in the browser. Null: none.
alter table announcement add link text check (link ~ '^/[^/\\]');
