#pragma once
// The verbs of the table in operations.cpp, by the file that has them.
#include "orchestrator/api/request_handler.h"

namespace cupel::api {

// reads_site.cpp
Reply who_am_i(RequestHandler& handler, const Call& call);
Reply read_status(RequestHandler& handler, const Call& call);
Reply read_inventory(RequestHandler& handler, const Call& call);
Reply list_nodes(RequestHandler& handler, const Call& call);
Reply read_node(RequestHandler& handler, const Call& call);
Reply search(RequestHandler& handler, const Call& call);
Reply list_playbooks(RequestHandler& handler, const Call& call);
Reply list_schedules(RequestHandler& handler, const Call& call);
Reply list_notices(RequestHandler& handler, const Call& call);

// node_results.cpp
Reply list_results(RequestHandler& handler, const Call& call);
Reply list_history(RequestHandler& handler, const Call& call);

// reads_fabric.cpp
Reply list_cables(RequestHandler& handler, const Call& call);

// reads_run.cpp
Reply list_runs(RequestHandler& handler, const Call& call);
Reply read_run(RequestHandler& handler, const Call& call);
Reply list_run_nodes(RequestHandler& handler, const Call& call);
Reply list_steps(RequestHandler& handler, const Call& call);
Reply list_verdicts(RequestHandler& handler, const Call& call);

// reads_node.cpp
Reply read_run_node(RequestHandler& handler, const Call& call);
Reply read_record(RequestHandler& handler, const Call& call);
Reply list_run_measurements(RequestHandler& handler, const Call& call);
Reply list_measurements(RequestHandler& handler, const Call& call);
Reply read_console(RequestHandler& handler, const Call& call);
Reply read_evidence(RequestHandler& handler, const Call& call);

// reads_journal.cpp
Reply list_events(RequestHandler& handler, const Call& call);
Reply read_event(RequestHandler& handler, const Call& call);
Reply stream_run(RequestHandler& handler, const Call& call);
Reply stream_all(RequestHandler& handler, const Call& call);
Reply list_commands(RequestHandler& handler, const Call& call);
Reply read_command(RequestHandler& handler, const Call& call);
Reply list_audit(RequestHandler& handler, const Call& call);

// reads_plan.cpp
Reply read_plan(RequestHandler& handler, const Call& call);
Reply read_power(RequestHandler& handler, const Call& call);
Reply read_report(RequestHandler& handler, const Call& call);
Reply read_run_status(RequestHandler& handler, const Call& call);
Reply list_actions(RequestHandler& handler, const Call& call);
Reply make_plan(RequestHandler& handler, const Call& call);
Reply plan_requalify(RequestHandler& handler, const Call& call);

// changes.cpp
Reply start_run(RequestHandler& handler, const Call& call);
Reply resume_run(RequestHandler& handler, const Call& call);
Reply start_look(RequestHandler& handler, const Call& call);
Reply requalify_node(RequestHandler& handler, const Call& call);
Reply give_command(RequestHandler& handler, const Call& call);
Reply set_locator(RequestHandler& handler, const Call& call);

// logins.cpp
Reply log_in(RequestHandler& handler, const Call& call);
Reply log_out(RequestHandler& handler, const Call& call);
Reply read_identity_provider(RequestHandler& handler, const Call& call);
Reply list_tokens(RequestHandler& handler, const Call& call);
Reply revoke_token(RequestHandler& handler, const Call& call);

// openapi.cpp
Reply read_openapi(RequestHandler& handler, const Call& call);
Reply read_health(RequestHandler& handler, const Call& call);
// metrics.cpp
Reply read_metrics(RequestHandler& handler, const Call& call);

// targets.cpp
Reply list_targets(RequestHandler& handler, const Call& call);

}  // namespace cupel::api
