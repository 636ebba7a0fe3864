-- Lists of what a number of a report counted: what is inside each document is read once more, for the terms by which it is found (documents/counted.ts).
update content_position set walked_type = 0, walked_at = '-infinity', walked_id = 0, next_at = now(), lease_until = null;
