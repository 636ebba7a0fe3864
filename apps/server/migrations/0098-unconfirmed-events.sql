-- `unconfirmed`: the authority did not tell for a day whether it has the event, or has it twice from another system and does not tell which answer
-- stands. Nothing claims such a row.
alter table outgoing_event drop constraint outgoing_event_state_check;
alter table outgoing_event add constraint outgoing_event_state_check
  check (state in ('asked', 'waiting', 'sending', 'registered', 'rejected', 'unconfirmed')) not valid;
