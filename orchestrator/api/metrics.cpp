// /metrics: what the service counts of itself, and how the runs that are not over stand. No metric
// has more rows than steps of playbooks or states: nodes are not labels.
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "orchestrator/api/handlers.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostSteps = 200;

using Labels = std::map<std::string, std::string>;

void gauge(prometheus::Registry& registry, const char* name, const char* help,
           const std::map<std::string, double>& rows, const char* label) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  for (const auto& [value, number] : rows)
    family.Add(*label == '\0' ? Labels{} : Labels{{label, value}}).Set(number);
}

prometheus::MetricFamily counted(const char* name, const char* help) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = prometheus::MetricType::Counter;
  return family;
}

void add_requests(const Counters& counters, std::vector<prometheus::MetricFamily>& families) {
  auto requests = counted("cupel_api_requests_total", "API requests, by class of their status");
  for (std::size_t i = 1; i < counters.by_class.size(); ++i) {
    prometheus::ClientMetric metric;
    metric.label = {{"class", std::to_string(i) + "xx"}};
    metric.counter.value = static_cast<double>(counters.by_class[i]);
    requests.metric.push_back(std::move(metric));
  }
  families.push_back(std::move(requests));
  const auto one = [&](const char* name, const char* help, double value) {
    auto family = counted(name, help);
    family.metric.emplace_back();
    family.metric.back().counter.value = value;
    families.push_back(std::move(family));
  };
  one("cupel_api_refused_logins_total", "Logins that were refused",
      static_cast<double>(counters.refused_logins));
  one("cupel_api_events_sent_total", "Events that went out in streams",
      static_cast<double>(counters.events_sent));
  prometheus::MetricFamily times;
  times.name = "cupel_api_request_seconds";
  times.help = "Time that API requests took to be worked on";
  times.type = prometheus::MetricType::Histogram;
  prometheus::ClientMetric metric;
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < counters.by_time.size(); ++i) {
    so_far += counters.by_time[i];
    const double bound = i < Counters::kSeconds.size() ? Counters::kSeconds[i]
                                                       : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({so_far, bound});
  }
  metric.histogram.sample_count = so_far;
  metric.histogram.sample_sum = static_cast<double>(counters.microseconds) / 1e6;
  times.metric.push_back(std::move(metric));
  families.push_back(std::move(times));
}

/// How the runs that are not over stand. Errors: kStorage.
Result<void> add_runs(Desk& desk, prometheus::Registry& registry) {
  TRY(const auto open, desk.journal().open_runs());
  std::map<std::string, double> runs, nodes, steps, halted;
  for (const auto* state : {"submitted", "running", "interrupted"}) runs[state] = 0;
  for (const auto id : open) {
    TRY(const auto run, desk.store().run(id));
    ++runs[std::string{to_string(run.phase)}];
    TRY(const auto* live, desk.runs().of(id, desk.journal()));
    for (const auto& node : run.nodes) {
      const auto standing = live->standing(node);
      ++nodes[std::string{standing.state}];
      const bool counted_step = standing.state == "running" &&
                                (steps.size() < kMostSteps || steps.contains(standing.step->name));
      if (counted_step) ++steps[standing.step->name];
    }
    halted[""] += static_cast<double>(live->folded().state.halts.size());
  }
  gauge(registry, "cupel_runs", "Runs that are not over, by their state", runs, "state");
  gauge(registry, "cupel_nodes", "Nodes of runs that are not over, by their state", nodes, "state");
  gauge(registry, "cupel_steps_running", "Nodes that a step runs on", steps, "step");
  gauge(registry, "cupel_halts", "Steps on which runs have halted", halted, "");
  return ok();
}

}  // namespace

Reply read_metrics(Desk& desk, const Call& call) {
  if (!call.identity.racks.empty())
    return Problem{403, "forbidden", "this counts all nodes, and you may see some of the racks"};
  prometheus::Registry registry;
  const auto added = add_runs(desk, registry);
  if (!added) return problem_of(added.error());
  auto& shared = desk.shared();
  gauge(registry, "cupel_api_connections", "Open connections",
        {{"", static_cast<double>(shared.connections ? shared.connections() : 0)}}, "");
  gauge(registry, "cupel_api_streams", "Open event streams",
        {{"", static_cast<double>(shared.streams ? shared.streams() : 0)}}, "");
  auto families = registry.Collect();
  add_requests(shared.counters, families);
  const prometheus::TextSerializer serializer;
  Answer answer;
  answer.type = "text/plain; version=0.0.4; charset=utf-8";
  answer.body = shared_text(serializer.Serialize(families));
  return answer;
}

}  // namespace cupel::api
