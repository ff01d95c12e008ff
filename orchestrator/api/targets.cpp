// The nodes as targets of Prometheus, which asks for them again and again (http_sd_configs).
#include <boost/json.hpp>

#include "inventory/model.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/api/node_results.h"
#include "orchestrator/report/site_lists.h"

namespace cupel::api {
namespace {

constexpr std::int64_t kNodeExporter = 9100;

}  // namespace

Reply list_targets(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  if (!inventory) return not_found("this service has no inventory: cupel serve --inventory FILE");
  const auto rack = call.text("rack"), profile = call.text("profile");
  NodeResults::SiteNodes nodes;
  report::ListedNodes listed;
  for (const auto& each : inventory->nodes) {
    nodes.emplace(each.name, &each);
    const bool meant = (rack.empty() || each.rack == rack) &&
                       (profile.empty() || each.profile == profile) &&
                       call.identity.sees_rack(each.rack);
    if (meant) listed.push_back(&each);
  }
  // What is not read yet is "none" in this answer, and is asked for again within a minute.
  if (const auto read = handler.results().catch_up(handler.journal(), nodes); !read)
    return problem_of(read.error());
  report::NodeVerdicts verdicts;
  for (const auto& [name, result] : handler.results().all())
    if (handler.sees(call, result.run, name))
      verdicts.emplace(name, report::NodeVerdict{result.run, result.state, result.cause});
  const auto port = static_cast<std::uint16_t>(call.integer("port", kNodeExporter));
  Answer answer;
  answer.type = "application/json";
  answer.body =
      shared_text(boost::json::serialize(report::prometheus_targets(listed, verdicts, port)));
  return answer;
}

}  // namespace cupel::api
