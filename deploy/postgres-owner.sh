#!/bin/sh
# The login of DATABASE_URL: it owns the database, may create roles and is no superuser. The image of compose.yaml runs this once, on an empty volume.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$POSTGRES_PASSWORD" -U postgres <<'SQL'
create role vigia login createrole password :'password';
create database vigia owner vigia;
SQL
