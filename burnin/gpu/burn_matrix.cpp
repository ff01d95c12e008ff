// Results that are of no single GPU: links between each two, and collectives over all of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/gpu/burn_findings.h"

namespace cupel::burnin {
namespace {

using Pair = std::pair<std::string, std::string>;

std::optional<Pair> pair_of(std::string_view part) {
  const auto dash = part.find('-');
  if (dash == part.npos || dash == 0 || dash + 1 == part.size()) return std::nullopt;
  return Pair{part.substr(0, dash), part.substr(dash + 1)};
}

std::string label(const NamedResult& result, const std::string& key) {
  const auto found = result.labels.find(key);
  return found == result.labels.end() ? std::string{} : found->second;
}

void add(Findings& findings, std::string_view measure, std::string part, double value,
         std::string_view unit) {
  findings.measurements.push_back(
      {std::string{measure}, std::move(part), value, std::string{unit}});
}

/// A GPU that is slow is slow with everybody. One that is well is fast with each other one that is,
/// and there may be few: where four of eight are slow, its median is as slow as theirs. So it is
/// the rate with its second best partner, the slower way; of one or two partners the better.
std::map<std::string, double> own_rates_of(const Pairs& pairs) {
  std::map<std::string, std::map<std::string, double>> of_gpu;
  for (const auto& [pair, rate] : pairs)
    for (const auto& [gpu, partner] : {pair, Pair{pair.second, pair.first}}) {
      const auto [at, fresh] = of_gpu[gpu].try_emplace(partner, rate);
      at->second = std::min(at->second, rate);
    }
  std::map<std::string, double> own;
  for (const auto& [gpu, partners] : of_gpu) {
    std::vector<double> rates;
    for (const auto& [partner, rate] : partners) rates.push_back(rate);
    std::ranges::sort(rates, std::greater{});
    own[gpu] = rates[rates.size() > 2 ? 1 : 0];
  }
  return own;
}

struct Way {
  std::string_view result, engine, pairs;
  std::string_view measure;
};
constexpr std::array kWays{
    Way{"p2p.bandwidth", "ce", "one", "p2p.bandwidth"},
    Way{"p2p.bandwidth", "sm", "one", "p2p.sm.bandwidth"},
    Way{"p2p.bandwidth", "ce", "all", "p2p.all.bandwidth"},
    Way{"p2p.bandwidth", "sm", "all", "p2p.all.sm.bandwidth"},
    Way{"p2p.both", "ce", "one", "p2p.both"},
};

Pairs pairs_of(std::span<const NamedResult> results, const Way& way) {
  Pairs pairs;
  for (const auto& each : results) {
    const bool asked = each.name == way.result && label(each, "engine") == way.engine &&
                       label(each, "pairs") == way.pairs && each.unit == "GB/s";
    const auto pair = pair_of(each.part);
    if (asked && pair) pairs[*pair] = each.value;
  }
  return pairs;
}

/// Each pair by itself, and what is wrong with it beyond its two GPUs.
void add_each_pair(const Pairs& pairs, const std::map<std::string, double>& own_rates,
                   Findings& findings) {
  std::map<std::string, double> reported;
  for (const auto& [pair, rate] : pairs) {
    const auto part = pair.first + "-" + pair.second;
    const double usual = std::min(own_rates.at(pair.first), own_rates.at(pair.second));
    add(findings, "p2p.pair.bandwidth", part, rate, "GB/s");
    if (usual > 0)
      add(findings, "p2p.pair.below_best", part, std::max(0.0, 100 * (usual - rate) / usual), "%");
    ++reported[pair.first];
    ++reported[pair.second];
  }
  for (const auto& [gpu, count] : reported) add(findings, "p2p.pairs", gpu, count, "count");
}

void charge_pairs(std::span<const NamedResult> results, std::string_view name,
                  std::string_view unit, Findings& findings) {
  Pairs pairs;
  std::map<std::string, double> own;
  for (const auto& each : results) {
    if (each.name != name || each.unit != unit) continue;
    const auto pair = pair_of(each.part);
    (pair ? pairs[*pair] : own[each.part]) += each.value;
  }
  add_charged(pairs, std::move(own), name, unit, findings);
}

// As cupel-burn and nccl-tests spell them, without what parts the words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kCollectives{{
    {"allreduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"reducescatter", "reduce_scatter"},
    {"alltoall", "all_to_all"},
    {"broadcast", "broadcast"},
    {"sendrecv", "send_recv"},
    {"sendreceive", "send_recv"},
    {"reduce", "reduce"},
}};

std::string_view collective_of(const NamedResult& result) {
  auto word = lower_case(label(result, "op"));
  std::erase_if(word, [](char c) { return c == '_' || c == '-'; });
  const auto* found =
      std::ranges::find(kCollectives, word, &std::pair<std::string_view, std::string_view>::first);
  return found == kCollectives.end() ? std::string_view{} : found->second;
}

/// Over NVLink with sums in the switches (NVLS), by rings, or through the HCAs: three numbers that
/// cannot be compared.
std::string way_of(const NamedResult& result) {
  if (label(result, "path") == "hca") return "hca.";
  return label(result, "nvls") == "off" ? "ring." : "";
}

struct Sized {
  double bytes = 0, value = 0;
};

/// The value of the largest message, or of the smallest.
std::map<std::string, Sized> extremes(std::span<const NamedResult> results, std::string_view name,
                                      std::string_view unit, bool largest) {
  std::map<std::string, Sized> found;
  for (const auto& each : results) {
    const auto op = collective_of(each);
    const auto bytes = number<double>(label(each, "bytes"));
    if (each.name != name || each.unit != unit || op.empty() || !bytes || !(*bytes >= 0)) continue;
    const auto measure = fmt::format("collective.{}.{}{}", op, way_of(each), name.substr(11));
    const auto known = found.find(measure);
    const bool better = known == found.end() ||
                        (largest ? *bytes > known->second.bytes : *bytes < known->second.bytes);
    if (better) found[measure] = {*bytes, each.value};
  }
  return found;
}

}  // namespace

void add_pairs(std::span<const NamedResult> results, Findings& findings) {
  for (const auto& way : kWays) {
    const auto pairs = pairs_of(results, way);
    const auto own_rates = own_rates_of(pairs);
    for (const auto& [gpu, rate] : own_rates) add(findings, way.measure, gpu, rate, "GB/s");
    if (way.measure == "p2p.bandwidth") add_each_pair(pairs, own_rates, findings);
  }
  charge_pairs(results, "p2p.refused", "count", findings);
  charge_pairs(results, "p2p.errors", "errors", findings);
}

void add_charged(const Pairs& pairs, std::map<std::string, double> own, std::string_view name,
                 std::string_view unit, Findings& findings) {
  std::map<std::string, double> of_gpu;
  for (const auto& [pair, value] : pairs) {
    of_gpu[pair.first] += value;
    of_gpu[pair.second] += value;
  }
  for (const auto& [gpu, sum] : of_gpu) own[gpu] += 0;
  for (const auto& [pair, value] : pairs) {
    const auto &left = pair.first, &right = pair.second;
    if (of_gpu[left] >= of_gpu[right]) own[left] += value;
    if (of_gpu[right] >= of_gpu[left]) own[right] += value;
  }
  for (const auto& [gpu, value] : own) add(findings, name, gpu, value, unit);
}

void add_collectives(std::span<const NamedResult> results, Findings& findings) {
  constexpr double kLarge = 1073741824;  // below it latency counts, and grows with the GPUs
  for (const auto& [measure, at] : extremes(results, "collective.busbw", "GB/s", true)) {
    if (at.bytes >= kLarge)
      add(findings, measure, "", at.value, "GB/s");
    else
      findings.unknown.push_back({measure, "cupel-burn collective",
                                  "its largest messages are smaller than 1 GiB: too small to "
                                  "compare"});
  }
  for (const auto& [measure, at] : extremes(results, "collective.latency", "us", false))
    if (measure == "collective.all_reduce.latency") add(findings, measure, "", at.value, "us");
}

}  // namespace cupel::burnin
