#include "orchestrator/controller/run_events.h"

#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <set>

#include "base/digest.h"
#include "base/login.h"
#include "base/paths.h"
#include "inventory/load_profile.h"

namespace cupel::controller {

using engine::Event;
using engine::EventKind;

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Cupel's own, and the SHA-256 of what it brings to nodes. A program that it has not is left out.
boost::json::object versions_of(ssh::ProgramShelf& programs, std::string_view cupel) {
  boost::json::object versions{{"cupel", cupel}};
  for (const auto* name : {"cupel-node", "cupel-burn"}) {
    const auto program = programs.find(name);
    if (program && *program) versions[name] = (*program)->sha256;
  }
  return versions;
}

/// SHA-256 of each profile's own text.
boost::json::object profiles_of(const Planned& planned) {
  const auto folder = absolute_path(planned.inventory.file).parent_path() / "profiles";
  const inventory::ProfileSource source{folder};
  boost::json::object profiles;
  for (const auto& each : planned.plan.nodes) {
    const auto& name = each.node->profile;
    if (!profiles.contains(name)) profiles[name] = sha256_hex(source.text(name));
  }
  return profiles;
}

boost::json::object parameters_of(const playbooks::Playbook& playbook) {
  boost::json::object parameters;
  for (const auto& each : playbook.parameters) parameters[each.name] = each.value;
  return parameters;
}

}  // namespace

Event run_event(EventKind kind, boost::json::object data) {
  Event event;
  event.kind = kind;
  event.data = std::move(data);
  return event;
}

Event run_started(const Planned& planned, const RunOptions& options, ssh::ProgramShelf& programs,
                  std::string_view version) {
  boost::json::array racks;
  for (const auto& rack : planned.inventory.racks)
    racks.push_back({{"name", rack.name}, {"units", rack.units}});
  boost::json::array nodes;
  boost::json::array steps;
  for (const auto& each : planned.plan.nodes) {
    const auto& node = *each.node;
    nodes.push_back({{"name", node.name},
                     {"profile", node.profile},
                     {"rack", node.rack},
                     {"unit", node.unit},
                     {"height", planned.inventory.profile_of(node).units}});
  }
  for (const auto& step : planned.plan.step_names()) steps.emplace_back(step);
  boost::json::object data{{"playbook", planned.playbook.name},
                           {"site", planned.inventory.site},
                           {"racks", racks},
                           {"nodes", nodes},
                           {"steps", steps},
                           {"by", options.begun_by},
                           {"host", host_name()},
                           {"versions", versions_of(programs, version)},
                           {"parameters", parameters_of(planned.playbook)},
                           {"playbook_sha256", sha256_hex(planned.playbook.text)},
                           {"inventory_sha256", planned.inventory.digest},
                           {"profiles_sha256", profiles_of(planned)}};
  if (options.rehearsal) data["rehearsal"] = true;
  if (options.requalifies) data["requalifies"] = report::to_json(*options.requalifies);
  return run_event(EventKind::run_started, std::move(data));
}

Event run_resumed() { return run_event(EventKind::run_resumed, {{"by", login_name()}}); }

}  // namespace cupel::controller
