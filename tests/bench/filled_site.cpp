#include "tests/bench/filled_site.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <fstream>
#include <span>

#include "base/json.h"
#include "orchestrator/controller/planned_run.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/store/access_tokens.h"
#include "orchestrator/store/store.h"

namespace cupel::bench {
namespace {

using engine::EventKind;

constexpr int kPerRack = 6, kUnits = 8;  // a DGX H100 has eight
constexpr std::size_t kBatch = 1000;
constexpr const char* kPlaybook =
    "playbook: bench\nsteps:\n  - step: bmc-facts\n  - stage: gemm\n  - step: verdict\n";

std::string rack_of(int node) { return fmt::format("r{:04}", node / kPerRack); }

/// 127.FIRST.*.*, one for each node.
std::string address(int first, int node) {
  constexpr int kPerByte = 250;
  return fmt::format("127.{}.{}.{}", first, node / kPerByte, 1 + node % kPerByte);
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream{file} << text;
  std::filesystem::permissions(file, std::filesystem::perms{0600});
}

std::string inventory_text(const std::filesystem::path& secret, int nodes) {
  std::string text = "site: bench\nracks:\n";
  for (int i = 0; i < nodes; i += kPerRack)
    text += fmt::format("  - {{name: {}, units: {}}}\n", rack_of(i), kPerRack * kUnits);
  text += fmt::format(
      "defaults:\n  profile: dgx-h100\n  bmc: {{user: admin, password: \"file:{0}\", tls: {{trust: "
      "first-use}}}}\n  ssh: {{user: root, key: {0}}}\nnodes:\n",
      secret.string());
  for (int i = 0; i < nodes; ++i)
    text += fmt::format(
        "  - {{name: {0}-n{1}, rack: {0}, unit: {2}, bmc: {{address: {3}}}, ssh: {{address: "
        "{4}}}}}\n",
        rack_of(i), 1 + i % kPerRack, 1 + kUnits * (i % kPerRack), address(100, i),
        address(101, i));
  return text;
}

json::object first_event(const controller::Planned& planned) {
  json::array nodes, racks;
  for (const auto& each : planned.inventory.nodes)
    nodes.push_back({{"name", each.name},
                     {"rack", each.rack},
                     {"unit", each.unit},
                     {"height", kUnits},
                     {"profile", each.profile}});
  for (const auto& each : planned.inventory.racks)
    racks.push_back({{"name", each.name}, {"units", each.units}});
  return {{"playbook", "bench"},
          {"site", "bench"},
          {"racks", std::move(racks)},
          {"nodes", std::move(nodes)},
          {"steps", {"bmc-facts", "gemm", "verdict"}},
          {"by", "bench"}};
}

template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error{result.error().what};
  return *std::move(result);
}
void need(const Result<void>& result) {
  if (!result) throw std::runtime_error{result.error().what};
}

engine::RunId fill(store::Store& store, const controller::Planned& planned,
                   const std::filesystem::path& folder, const std::vector<std::string>& nodes) {
  store::Run run;
  run.playbook = "bench";
  run.playbook_file = (folder / "playbook.yaml").string();
  run.playbook_text = kPlaybook;
  run.inventory_file = planned.inventory.file;
  run.inventory_digest = planned.inventory.digest;
  run.nodes = nodes;
  const auto id = need(store.begin_run(run));
  auto first = event_of(EventKind::run_started, "", "", first_event(planned));
  need(store.append(id, first));
  std::vector<engine::Event> events;
  for (const auto& node : nodes) {
    events.push_back(event_of(EventKind::step_began, node, "bmc-facts", {{"attempt", 1}}));
    events.push_back(event_of(EventKind::step_ended, node, "bmc-facts", {{"outcome", "done"}}));
    events.push_back(event_of(EventKind::step_began, node, "gemm", {{"attempt", 1}}));
  }
  for (std::size_t at = 0; at < events.size(); at += kBatch)
    need(store.append(id, std::span{events}.subspan(at, std::min(kBatch, events.size() - at))));
  return id;
}

}  // namespace

engine::Event event_of(EventKind kind, const std::string& node, const std::string& step,
                       json::object data) {
  engine::Event event;
  event.kind = kind;
  event.node = node;
  event.step = step;
  event.data = std::move(data);
  return event;
}

FilledSite fill_site(const std::filesystem::path& folder, int nodes) {
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  write(folder / "secret", "secret\n");
  write(folder / "playbook.yaml", kPlaybook);
  write(folder / "inventory.yaml", inventory_text(folder / "secret", nodes));
  write(folder / "service.yaml", "inventory: inventory.yaml\nrequests_per_second: 1000000\n");
  const auto planned = controller::plan_run({.playbook = (folder / "playbook.yaml").string(),
                                             .inventory = (folder / "inventory.yaml").string()});
  if (!planned) throw std::runtime_error{controller::to_string(planned.error())};
  FilledSite site{.folder = folder};
  for (const auto& each : (*planned)->inventory.nodes) site.nodes.push_back(each.name);
  const auto store = need(store::Store::open(site.state()));
  site.run = fill(*store, **planned, folder, site.nodes);
  const auto now = report::wall_now();
  auto tokens = need(store::AccessTokens::open(site.state()));
  site.token = need(tokens.add({.name = "bench",
                                .role = "operator",
                                .racks = inventory::RackScope::all(),
                                .made = now,
                                .expires = now + std::chrono::hours{1}}));
  return site;
}

}  // namespace cupel::bench
