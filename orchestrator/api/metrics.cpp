// /metrics: what the service counts of itself, and how the runs that are not over stand. No metric
// has more rows than there are states, steps of playbooks, levels of the power tree or profiles:
// nodes are no labels.
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <boost/json.hpp>
#include <cmath>
#include <filesystem>

#include "base/log.h"
#include "orchestrator/api/bmc_sums.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/api/otlp_service.h"
#include "orchestrator/api/planned_power.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/store/bmc_budgets.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostSteps = 200, kMostLevels = 2000;

using Labels = std::map<std::string, std::string>;

void gauge(prometheus::Registry& registry, const char* name, const char* help,
           const std::map<std::string, double>& rows, const char* label) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  for (const auto& [value, number] : rows) family.Add(Labels{{label, value}}).Set(number);
}

void gauge(prometheus::Registry& registry, const char* name, const char* help, double value) {
  prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({}).Set(value);
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
  one("cupel_notices_sent_total", "Notices that were delivered",
      static_cast<double>(counters.notices_sent));
  one("cupel_notices_failed_total", "Notices that could not be delivered",
      static_cast<double>(counters.notices_failed));
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

prometheus::ClientMetric row(Labels labels) {
  prometheus::ClientMetric metric;
  for (auto& [name, value] : labels) metric.label.push_back({name, value});
  return metric;
}

/// How BMCs answered, as the engine last kept it: once a minute while it asks. Errors: kStorage.
Result<void> add_bmcs(const Shared& shared, std::vector<prometheus::MetricFamily>& families) {
  TRY(const auto budgets, store::all_budgets(shared.state));
  auto requests = counted("cupel_bmc_requests_total", "Requests to BMCs");
  auto failures = counted("cupel_bmc_failures_total",
                          "Requests to BMCs that were refused, failed or got no answer");
  prometheus::MetricFamily latency;
  latency.name = "cupel_bmc_latency_seconds";
  latency.help =
      "Mean time to answer of the median BMC, of one that nine of ten beat, and of the slowest";
  latency.type = prometheus::MetricType::Gauge;
  const auto inventory = shared.inventory.get();
  for (const auto& [profile, sums] : bmc_sums(budgets, inventory.get())) {
    requests.metric.push_back(row({{"profile", profile}}));
    requests.metric.back().counter.value = static_cast<double>(sums.requests);
    for (std::size_t i = 0; i < kBmcFailures.size(); ++i) {
      failures.metric.push_back(row({{"profile", profile}, {"why", std::string{kBmcFailures[i]}}}));
      failures.metric.back().counter.value = static_cast<double>(sums.failures[i]);
    }
    for (const auto& [of, share] : {std::pair{"median", 0.5}, {"p90", 0.9}, {"slowest", 1.0}}) {
      latency.metric.push_back(row({{"profile", profile}, {"of", of}}));
      latency.metric.back().gauge.value = sums.latency(share);
    }
  }
  for (auto* family : {&requests, &failures, &latency}) families.push_back(std::move(*family));
  return ok();
}

/// What all runs that are not over come to.
struct Sums {
  std::map<std::string, double> runs{{"submitted", 0}, {"running", 0}, {"interrupted", 0}};
  std::map<std::string, double> nodes{}, steps{}, limits{}, watts{};
  double halts = 0, held = 0, overdue = 0, retries = 0;
};

void add_nodes(const LiveRun& live, const store::Run& run, Sums& sums) {
  for (const auto& node : run.nodes) {
    const auto standing = live.standing(node);
    ++sums.nodes[std::string{standing.state}];
    if (standing.state == "running" && standing.at->overdue) ++sums.overdue;
    const bool counted_step =
        standing.state == "running" &&
        (sums.steps.size() < kMostSteps || sums.steps.contains(standing.step->name));
    if (counted_step) ++sums.steps[standing.step->name];
  }
  for (const auto& [name, node] : live.folded().state.nodes)
    for (const auto& step : node.steps) sums.retries += step.retries;
}

/// A run whose files have changed since has no plan, and so no watts.
void add_power(RequestHandler& handler, const LiveRun& live, const store::Run& run, Sums& sums) {
  const auto planned = handler.plan_of(run);
  if (!planned) return;
  for (const auto& level : power_levels(**planned, live)) {
    if (sums.watts.size() == kMostLevels && !sums.watts.contains(level.name)) continue;
    sums.watts[level.name] += level.planned_watts;
    sums.limits[level.name] = level.limit_watts;
  }
}

/// How the runs that are not over stand. Errors: kStorage.
Result<void> add_runs(RequestHandler& handler, prometheus::Registry& registry) {
  TRY(const auto open, handler.journal().open_runs());
  const auto status = controller::read_status(handler.shared().state);
  Sums sums;
  for (const auto id : open) {
    TRY(const auto run, handler.store().run(id));
    ++sums.runs[std::string{to_string(run.phase)}];
    TRY(const auto* live, handler.runs().of(id, handler.journal()));
    add_nodes(*live, run, sums);
    if (run.phase == engine::RunPhase::running) add_power(handler, *live, run, sums);
    sums.halts += static_cast<double>(live->folded().state.halts.size());
    if (const auto* one = controller::find(status, id))
      for (const auto& held : one->held) sums.held += static_cast<double>(held.nodes);
  }
  gauge(registry, "cupel_runs", "Runs that are not over, by their state", sums.runs, "state");
  gauge(registry, "cupel_nodes", "Nodes of runs that are not over, by their state", sums.nodes,
        "state");
  gauge(registry, "cupel_steps_running", "Nodes that a step runs on", sums.steps, "step");
  gauge(registry, "cupel_halts", "Steps on which runs have halted", sums.halts);
  gauge(registry, "cupel_nodes_held", "Nodes whose next step waits for something to be free",
        sums.held);
  gauge(registry, "cupel_steps_overdue", "Steps that take longer than expected by far",
        sums.overdue);
  gauge(registry, "cupel_step_retries", "Tries that failed and were made again, of open runs",
        sums.retries);
  gauge(registry, "cupel_power_planned_watts", "Planned draw of the nodes of running runs",
        sums.watts, "level");
  gauge(registry, "cupel_power_limit_watts", "Limit of the power level", sums.limits, "level");
  return ok();
}

/// What the service stands on.
void add_service(RequestHandler& handler, prometheus::Registry& registry) {
  auto& shared = handler.shared();
  gauge(registry, "cupel_api_connections", "Open connections",
        static_cast<double>(shared.connections ? shared.connections() : 0));
  gauge(registry, "cupel_api_streams", "Open event streams",
        static_cast<double>(shared.streams ? shared.streams() : 0));
  gauge(registry, "cupel_start_time_seconds", "When the service started, since the epoch",
        std::chrono::duration<double>{shared.started.time_since_epoch()}.count());
  std::error_code failed;
  const auto space = std::filesystem::space(shared.state, failed);
  if (failed) return;
  gauge(registry, "cupel_state_free_bytes", "Free on the disk of the state folder",
        static_cast<double>(space.available));
  gauge(registry, "cupel_state_disk_bytes", "Size of the disk of the state folder",
        static_cast<double>(space.capacity));
}

/// All of it, as it is now. Errors: kStorage.
Result<std::vector<prometheus::MetricFamily>> all_families(RequestHandler& handler) {
  prometheus::Registry registry;
  TRY(add_runs(handler, registry));
  add_service(handler, registry);
  auto families = registry.Collect();
  add_requests(handler.shared().counters, families);
  if (const auto read = add_bmcs(handler.shared(), families); !read)
    log::warning({}, "metrics-without-bmcs", read.error().what);
  return families;
}

/// What HistogramDataPoint has: a count for each bucket, not up to it; the last has no bound.
void put_histogram(json::object& point, const prometheus::ClientMetric::Histogram& histogram) {
  json::array counts, bounds;
  std::uint64_t before = 0;
  for (const auto& bucket : histogram.bucket) {
    counts.emplace_back(std::to_string(bucket.cumulative_count - before));
    before = bucket.cumulative_count;
    if (std::isfinite(bucket.upper_bound)) bounds.emplace_back(bucket.upper_bound);
  }
  point["count"] = std::to_string(histogram.sample_count);
  point["sum"] = histogram.sample_sum;
  point["bucketCounts"] = std::move(counts);
  point["explicitBounds"] = std::move(bounds);
}

json::array otlp_points(const prometheus::MetricFamily& family, engine::WallTime started,
                        engine::WallTime now) {
  // What was counted of BMCs outlives the service: since when is not known.
  const bool has_start =
      family.type != prometheus::MetricType::Gauge && !family.name.starts_with("cupel_bmc_");
  json::array points;
  for (const auto& metric : family.metric) {
    json::array attributes;
    for (const auto& label : metric.label) put_attribute(attributes, label.name, label.value);
    json::object point{{"attributes", std::move(attributes)}, {"timeUnixNano", otlp_time(now)}};
    if (has_start) point["startTimeUnixNano"] = otlp_time(started);
    if (family.type == prometheus::MetricType::Histogram)
      put_histogram(point, metric.histogram);
    else if (family.type == prometheus::MetricType::Counter)
      point["asDouble"] = metric.counter.value;
    else
      point["asDouble"] = metric.gauge.value;
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

Reply read_metrics(RequestHandler& handler, const Call& call) {
  if (!call.identity.sees_all_racks())
    return Problem{403, "forbidden", "this counts all nodes, and you may see some of the racks"};
  const auto families = all_families(handler);
  if (!families) return problem_of(families.error());
  const prometheus::TextSerializer serializer;
  Answer answer;
  answer.type = "text/plain; version=0.0.4; charset=utf-8";
  answer.body = shared_text(serializer.Serialize(*families));
  return answer;
}

Result<std::vector<OtlpRequest>> otlp_of_service(RequestHandler& handler, std::string_view site,
                                                 engine::WallTime now) {
  constexpr int kCumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE
  const auto& shared = handler.shared();
  OtlpRequests requests{otlp_resource(shared.version, site), shared.version};
  TRY(const auto families, all_families(handler));
  for (const auto& family : families) {
    auto points = otlp_points(family, shared.started, now);
    if (points.empty()) continue;
    const auto count = points.size();
    json::object data{{"dataPoints", std::move(points)}};
    const bool is_gauge = family.type == prometheus::MetricType::Gauge;
    const bool is_counter = family.type == prometheus::MetricType::Counter;
    if (!is_gauge) data["aggregationTemporality"] = kCumulative;
    if (is_counter) data["isMonotonic"] = true;
    const auto* kind = is_gauge ? "gauge" : is_counter ? "sum" : "histogram";
    requests.add(OtlpSignal::metrics,
                 {{"name", family.name}, {"description", family.help}, {kind, std::move(data)}},
                 count);
  }
  return requests.finish();
}

}  // namespace cupel::api
