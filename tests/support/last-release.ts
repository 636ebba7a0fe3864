/**
 * What is in use where an update comes to: its commit, and the last migration that it has. Set both when a version is published. Later migrations follow the rules of
 * apps/server/platform/schema/expand.test.ts, and tests/conformance/update.test.ts runs that version beside this one.
 */
export const lastRelease = {
  commit: 'd107068f61022d24ee30dd0fc3d015981748e540',
  migration: '0063-alert-due.sql',
}
