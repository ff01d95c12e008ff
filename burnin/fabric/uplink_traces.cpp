#include "burnin/fabric/uplink_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace cupel::burnin::fabric {
namespace {

constexpr double kOfTheFlow = 0.8;
/// Nats: a reading that is fast beyond its own noise.
constexpr double kFast = -2;
constexpr int kMostRoundsWithoutSlow = 2;
constexpr std::size_t kMostListed = 8;

struct Side {
  Trace::End end = Trace::End::unread;
  int uplink = -1, ports = 0;
};

Side carried_by(std::span<const double> grown, double bytes) {
  if (grown.empty() || std::ranges::any_of(grown, [](double each) { return std::isnan(each); }))
    return {};
  const auto most = std::ranges::max_element(grown);
  const double all = std::accumulate(grown.begin(), grown.end(), 0.0);
  const double least = kOfTheFlow * bytes;
  if (all < least) return {.end = Trace::End::unfit};
  if (*most >= least) {
    if (all - *most >= least) return {.end = Trace::End::crowded};
    return {.end = Trace::End::traced, .uplink = static_cast<int>(most - grown.begin())};
  }
  const double of_each = bytes / static_cast<double>(2 * grown.size());
  const auto ports = std::ranges::count_if(grown, [&](double each) { return each >= of_each; });
  return {.end = Trace::End::spread, .ports = static_cast<int>(ports)};
}

int spine_of(const Topology& topology, int leaf, int uplink) {
  const auto& wiring = topology.wiring();
  const auto at = static_cast<std::size_t>(leaf) * static_cast<std::size_t>(wiring.uplinks) +
                  static_cast<std::size_t>(uplink);
  return wiring.spine_of_uplink[at];
}

std::string words_of(const Trace& trace) {
  switch (trace.end) {
    case Trace::End::traced:
      return "traced";
    case Trace::End::spread:
      return fmt::format("it goes over {} uplinks: routing is adaptive", trace.ports);
    case Trace::End::crowded:
      return "other traffic on the uplinks is as large: measure while the fabric is idle";
    case Trace::End::unfit:
      return "no uplink's counter grew by what it sent";
    case Trace::End::apart:
      return "the counters of its two leaves show uplinks to different spines: compare the cables "
             "with the plan (fabric-cables)";
    case Trace::End::unread:
      return "the counters of its leaves were not read";
  }
  return "";
}

}  // namespace

Trace trace_of(const Topology& topology, const Flow& flow, double bytes,
               std::span<const double> sent, std::span<const double> received) {
  if (!(bytes > 0)) return {.end = Trace::End::unfit};
  const auto up = carried_by(sent, bytes), down = carried_by(received, bytes);
  for (const auto end :
       {Trace::End::unread, Trace::End::spread, Trace::End::crowded, Trace::End::unfit})
    if (up.end == end || down.end == end)
      return {.end = end, .ports = std::max(up.ports, down.ports)};
  const int spine = spine_of(topology, topology.port(flow.from, flow.rail).leaf, up.uplink);
  if (spine < 0 || spine != spine_of(topology, topology.port(flow.to, flow.rail).leaf, down.uplink))
    return {.end = Trace::End::apart};
  return {.end = Trace::End::traced,
          .route = {static_cast<std::int16_t>(up.uplink), static_cast<std::int16_t>(down.uplink)}};
}

UplinkTraces::UplinkTraces(PairScreen& screen) : screen_{screen} { begin_round(); }

bool UplinkTraces::may_trace(const Flow& flow) const {
  const int leaf = screen_.topology().port(flow.from, flow.rail).leaf;
  return !screen_.is_absent(flow.from) && !screen_.is_absent(flow.to) &&
         !tried_.contains({leaf, flow.to, flow.rail});
}

/// Slow ones first; then fast ones of the same ports, which clear an uplink's twin; of the same
/// nodes, which routing often sends over the same spine; and all others.
std::vector<Flow> UplinkTraces::candidates(const Culprits& found) {
  const auto& readings = screen_.readings();
  if (rounds_ == 0) {
    const auto whole = whole_fabric(readings, found);
    if (whole.collides || whole.between_few_nodes) return {};
  }
  std::vector<Flow> chosen;
  for (const auto id : found.unexplained) {
    if (readings.kind(id) != 1) continue;
    const auto& flow = readings.flow(id);
    slow_.insert({flow.from, flow.to, flow.rail});
    for (const int node : {flow.from, flow.to}) {
      ends_.insert({node, flow.rail});
      nodes_.insert(node);
    }
    if (may_trace(flow)) chosen.push_back(flow);
  }
  const bool has_slow = !chosen.empty();
  // Fast flows clear what only few slow ones cross: also where a part is named already.
  const auto suspects = [&](const Suspicion& each) { return is_between_leaves(each.parts); };
  if (nodes_.empty() || (!has_slow && std::ranges::none_of(found.open, suspects) &&
                         std::ranges::none_of(found.named, suspects)))
    return {};
  if (!has_slow && ++rounds_without_slow_ > kMostRoundsWithoutSlow) return {};
  std::array<std::vector<Flow>, 3> fast;
  for (FlowId id = 0; id < readings.size(); ++id) {
    const auto& flow = readings.flow(id);
    if (readings.count(id) == 0 || readings.kind(id) != 1 || readings.evidence(id) > kFast ||
        !may_trace(flow))
      continue;
    const bool of_port =
        ends_.contains({flow.from, flow.rail}) || ends_.contains({flow.to, flow.rail});
    const bool of_node = nodes_.contains(flow.from) || nodes_.contains(flow.to);
    fast[of_port ? 0 : of_node ? 1 : 2].push_back(flow);
  }
  for (const auto& each : fast) chosen.insert(chosen.end(), each.begin(), each.end());
  return chosen;
}

bool UplinkTraces::is_between_leaves(std::span<const PartId> parts) const {
  return std::ranges::any_of(parts, [&](PartId part) {
    const auto kind = screen_.topology().part(part).kind;
    return kind == PartKind::uplink || kind == PartKind::spine;
  });
}

void UplinkTraces::choose(std::span<const Flow> candidates) {
  std::set<int> sending, receiving;
  for (const auto& flow : candidates) {
    const int from = screen_.topology().port(flow.from, flow.rail).leaf,
              to = screen_.topology().port(flow.to, flow.rail).leaf;
    if (sending.contains(from) || receiving.contains(to)) continue;
    sending.insert(from);
    receiving.insert(to);
    asked_.push_back(flow);
  }
}

void UplinkTraces::begin_round() {
  asked_.clear();
  if (screen_.topology().wiring().uplinks == 0) return;
  if (rounds_ < kMostTraceRounds) choose(candidates(screen_.culprits()));
  if (asked_.empty())
    end();
  else
    ++rounds_;
}

void UplinkTraces::end() {
  if (screen_.topology().measured() > 0) screen_.ask_again();
}

bool UplinkTraces::is_fast_alone(const Flow& flow, double gigabits) const {
  return slow_.contains({flow.from, flow.to, flow.rail}) &&
         !(screen_.limits(true).evidence(gigabits) > 0);
}

void UplinkTraces::count(const Flow& flow, const Trace& trace) {
  if (trace.end != Trace::End::traced) {
    not_traced_.emplace_back(flow, trace);
    return;
  }
  ++traced_;
  const auto tables = screen_.topology().route_of_tables(flow);
  if (tables && *tables != trace.route) ++by_another_than_tables_;
}

void UplinkTraces::take(std::span<const double> readings, std::span<const Trace> traces) {
  std::vector<TracedFlow> traced;
  bool any = false;
  for (std::size_t i = 0; i < asked_.size() && i < readings.size() && i < traces.size(); ++i) {
    const auto& flow = asked_[i];
    tried_.insert({screen_.topology().port(flow.from, flow.rail).leaf, flow.to, flow.rail});
    count(flow, traces[i]);
    if (traces[i].end != Trace::End::traced) continue;
    any = true;
    if (is_fast_alone(flow, readings[i]))
      ++fast_alone_;
    else
      traced.emplace_back(flow, traces[i].route);
  }
  screen_.learn_routes(traced);
  asked_.clear();
  // Where routing is adaptive, or no counter can be read, the next round shows no more.
  if (any)
    begin_round();
  else
    end();
}

std::vector<std::string> UplinkTraces::reasons(const Names& names) const {
  std::vector<std::string> lines;
  if (traced_ == 0 && not_traced_.empty()) return lines;
  const auto all = static_cast<std::size_t>(traced_) + not_traced_.size();
  lines.push_back(fmt::format(
      "uplinks of {} of {} flows across leaves were traced by port counters, in {} rounds", traced_,
      all, rounds_));
  if (by_another_than_tables_ > 0)
    lines.push_back(
        fmt::format("{} of them take other uplinks than the forwarding tables say: run dump_fts "
                    "again and replace the file",
                    by_another_than_tables_));
  if (fast_alone_ > 0)
    lines.push_back(fmt::format(
        "{} slow flows have the usual rate alone: other flows were on their uplinks", fast_alone_));
  for (std::size_t i = 0; i < std::min(not_traced_.size(), kMostListed); ++i) {
    const auto& [flow, trace] = not_traced_[i];
    lines.push_back(fmt::format("not traced: {}: {}", name_of(screen_.topology(), names, flow),
                                words_of(trace)));
  }
  if (not_traced_.size() > kMostListed)
    lines.push_back(fmt::format("not traced: {} more", not_traced_.size() - kMostListed));
  return lines;
}

}  // namespace cupel::burnin::fabric
