#pragma once
// The verbs of the table in operations.cpp, by the file that has them.
#include "orchestrator/api/desk.h"

namespace cupel::api {

// reads_site.cpp
Reply who_am_i(Desk& desk, const Call& call);
Reply read_status(Desk& desk, const Call& call);
Reply read_inventory(Desk& desk, const Call& call);
Reply list_nodes(Desk& desk, const Call& call);
Reply read_node(Desk& desk, const Call& call);
Reply search(Desk& desk, const Call& call);
Reply list_playbooks(Desk& desk, const Call& call);
Reply list_schedules(Desk& desk, const Call& call);
Reply list_notices(Desk& desk, const Call& call);

// node_results.cpp
Reply list_results(Desk& desk, const Call& call);
Reply list_history(Desk& desk, const Call& call);

// reads_fabric.cpp
Reply list_cables(Desk& desk, const Call& call);

// reads_run.cpp
Reply list_runs(Desk& desk, const Call& call);
Reply read_run(Desk& desk, const Call& call);
Reply list_run_nodes(Desk& desk, const Call& call);
Reply list_steps(Desk& desk, const Call& call);
Reply list_verdicts(Desk& desk, const Call& call);

// reads_node.cpp
Reply read_run_node(Desk& desk, const Call& call);
Reply read_record(Desk& desk, const Call& call);
Reply list_run_measurements(Desk& desk, const Call& call);
Reply list_measurements(Desk& desk, const Call& call);
Reply read_console(Desk& desk, const Call& call);
Reply read_evidence(Desk& desk, const Call& call);

// reads_journal.cpp
Reply list_events(Desk& desk, const Call& call);
Reply read_event(Desk& desk, const Call& call);
Reply stream_run(Desk& desk, const Call& call);
Reply stream_all(Desk& desk, const Call& call);
Reply list_commands(Desk& desk, const Call& call);
Reply read_command(Desk& desk, const Call& call);
Reply list_audit(Desk& desk, const Call& call);

// reads_plan.cpp
Reply read_plan(Desk& desk, const Call& call);
Reply read_power(Desk& desk, const Call& call);
Reply read_report(Desk& desk, const Call& call);
Reply read_run_status(Desk& desk, const Call& call);
Reply list_actions(Desk& desk, const Call& call);
Reply make_plan(Desk& desk, const Call& call);
Reply plan_requalify(Desk& desk, const Call& call);

// changes.cpp
Reply start_run(Desk& desk, const Call& call);
Reply resume_run(Desk& desk, const Call& call);
Reply start_look(Desk& desk, const Call& call);
Reply requalify_node(Desk& desk, const Call& call);
Reply give_command(Desk& desk, const Call& call);
Reply set_locator(Desk& desk, const Call& call);

// logins.cpp
Reply log_in(Desk& desk, const Call& call);
Reply log_out(Desk& desk, const Call& call);
Reply list_tokens(Desk& desk, const Call& call);
Reply revoke_token(Desk& desk, const Call& call);

// openapi.cpp
Reply read_openapi(Desk& desk, const Call& call);
Reply read_health(Desk& desk, const Call& call);
// metrics.cpp
Reply read_metrics(Desk& desk, const Call& call);

// targets.cpp
Reply list_targets(Desk& desk, const Call& call);

}  // namespace cupel::api
