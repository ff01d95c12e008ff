#include "burnin/common_faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string>

#include "burnin/verdict_text.h"
#include "inventory/node_range.h"

namespace cupel::burnin {
namespace {

using Parts = std::set<std::string, std::less<>>;
using IsOne = std::function<bool(const Cause&)>;

constexpr std::array<std::string_view, 5> kPairRates{
    "p2p.bandwidth", "p2p.sm.bandwidth", "p2p.all.bandwidth", "p2p.all.sm.bandwidth", "p2p.both"};
constexpr std::array<std::string_view, 2> kPairCounts{"p2p.errors", "p2p.refused"};

bool is_failed_number(const Cause& cause) {
  return cause.decision == Decision::fail && cause.quantity.value.has_value();
}

bool is_xid(const Cause& cause) {
  return is_failed_number(cause) && is_gpu(cause.part) &&
         (cause.criterion == "gpu.xid" || cause.criterion == "kernel.xid");
}

int code_of(const Cause& cause) { return static_cast<int>(cause.quantity.value.value_or(0)); }

bool is_link_xid(const Cause& cause) {
  return is_xid(cause) && std::ranges::find(kNvlinkXids, code_of(cause)) != kNvlinkXids.end();
}

/// A number of the GPU's own links that is bad.
bool is_of_own_numbers(const Cause& cause) {
  return is_failed_number(cause) && is_gpu(cause.part) && cause.criterion.starts_with("nvlink.");
}

bool is_of_own_links(const Cause& cause) { return is_link_xid(cause) || is_of_own_numbers(cause); }

Parts parts_of(const std::vector<Cause>& causes, const IsOne& is_one) {
  Parts parts;
  for (const auto& each : causes)
    if (is_one(each)) parts.insert(each.part);
  return parts;
}

std::string named(const Parts& parts) {
  return inventory::fold(std::vector<std::string>(parts.begin(), parts.end()));
}

/// In the place of the first member, without the others, and by the first of their criteria's
/// names: "gpu.xid" before "kernel.xid".
void join_members(std::vector<Cause>& causes, const IsOne& is_member, Cause cause) {
  const auto first = std::ranges::find_if(causes, is_member);
  for (const auto& each : causes) {
    if (!is_member(each)) continue;
    if (cause.criterion.empty() || each.criterion < cause.criterion) {
      cause.criterion = each.criterion;
      cause.criterion_id = each.criterion_id;
      cause.evidence = each.evidence;
    }
    for (const auto& stage : each.stages)
      if (std::ranges::find(cause.stages, stage) == cause.stages.end())
        cause.stages.push_back(stage);
  }
  const auto place = first - causes.begin();
  std::erase_if(causes, is_member);
  causes.insert(causes.begin() + place, std::move(cause));
}

/// A switch that reported an SXid, or a GPU that was lost.
bool explains_links(const Cause& cause) {
  constexpr int kFellOffTheBus = 79;
  if (cause.decision != Decision::fail) return false;
  if (cause.criterion == "nvswitch.sxid" || cause.criterion == "kernel.sxid") return true;
  return (is_xid(cause) && code_of(cause) == kFellOffTheBus) || cause.criterion == "gpu.responsive";
}

/// One GPU reports the event of a link, the others that their requests were lost.
bool has_one_source(const std::vector<Cause>& causes) {
  const bool are_lost_requests = std::ranges::none_of(causes, [](const Cause& each) {
    return is_link_xid(each) && code_of(each) != kLostRequestXid && code_of(each) != kLinkEventXid;
  });
  const auto source = parts_of(causes, [](const Cause& each) {
    return is_link_xid(each) && code_of(each) == kLinkEventXid;
  });
  return are_lost_requests && source.size() == 1;
}

constexpr std::size_t kFewest = 3;  // two are the ends of one link
constexpr std::string_view kDomainRemedy =
    "restart the machine, of a rack (NVL72) all machines of the NVLink domain, and test again; "
    "look at the switches, the fabric manager's log and the baseboard: no GPU is to be replaced "
    "for what most of them report at once";

/// Those whose Xids no number of their own links explains; all, where all GPUs report one.
Parts without_own_fault(const std::vector<Cause>& causes, std::size_t gpus) {
  auto members = parts_of(causes, is_link_xid);
  if (members.size() < gpus)
    for (const auto& sick : parts_of(causes, is_of_own_numbers)) members.erase(sick);
  return members;
}

void join_link_xids(std::span<const Checked> checked, std::vector<Cause>& causes) {
  const auto gpus = gpus_measured(checked, {});
  const auto members = without_own_fault(causes, gpus);
  if (members.size() < kFewest || 2 * members.size() <= gpus || has_one_source(causes)) return;
  const IsOne is_member = [&](const Cause& cause) {
    return is_link_xid(cause) && members.contains(cause.part);
  };
  std::set<int> codes;
  for (const auto& each : causes)
    if (is_member(each)) codes.insert(code_of(each));
  Cause cause;
  cause.part = kNvlinkDomain;
  cause.measured = fmt::format("Xid{} {} of {}", codes.size() == 1 ? "" : "s",
                               fmt::join(codes, ", "), named(members));
  cause.expected = "none";
  cause.remedy = kDomainRemedy;
  join_members(causes, is_member, std::move(cause));
}

/// Links that all GPUs lack alike.
void join_lost_links(std::span<const Checked> checked, std::vector<Cause>& causes) {
  constexpr std::string_view kActive = "nvlink.active";
  const IsOne is_member = [&](const Cause& cause) {
    return is_failed_number(cause) && is_gpu(cause.part) && cause.criterion == kActive;
  };
  const auto members = parts_of(causes, is_member);
  if (members.size() < kFewest || members.size() < gpus_measured(checked, kActive)) return;
  const auto first = *std::ranges::find_if(causes, is_member);
  const bool are_alike = std::ranges::all_of(causes, [&](const Cause& each) {
    return !is_member(each) || each.quantity == first.quantity;
  });
  if (!are_alike) return;
  Cause cause;
  cause.part = kNvlinkDomain;
  cause.measured = fmt::format("{} of each of {}", measured_text(first), named(members));
  cause.expected = expectation_text(first);
  cause.remedy = kDomainRemedy;
  join_members(causes, is_member, std::move(cause));
}

void join_pairs(std::span<const Checked> checked, std::string_view measure, bool is_rate,
                std::vector<Cause>& causes) {
  const auto is_failing = [&](const Cause& cause) {
    return is_failed_number(cause) && is_gpu(cause.part) && cause.criterion == measure;
  };
  const auto gpus = gpus_measured(checked, measure);
  const auto failing = parts_of(causes, is_failing);
  const auto sick = is_rate ? parts_of(causes, is_of_own_links) : Parts{};
  Parts members;
  std::ranges::set_difference(failing, sick, std::inserter(members, members.end()));
  if (members.size() < 2) return;
  const bool is_known = !sick.empty() && is_limited_by_partners(gpus, sick.size());
  // Any one of them may be well: the others are its partners.
  const bool is_their_own =
      is_rate ? !is_limited_by_partners(gpus, failing.size() - 1) : failing.size() < gpus;
  if (is_known || is_their_own) return;
  const IsOne is_member = [&](const Cause& cause) {
    return is_failing(cause) && members.contains(cause.part);
  };
  std::vector<Quantity> values;
  for (const auto& each : causes)
    if (is_member(each)) values.push_back(each.quantity);
  Cause cause;
  cause.part = kLinksOfAllGpus;
  cause.measured = fmt::format("{} of {}", measured_text(values), named(members));
  cause.expected = expectation_text(values.front());
  cause.remedy =
      "look at what all links have in common: switches and fabric manager, baseboard; over PCIe "
      "ACS, IOMMU and the root ports. The numbers name no single GPU: each is so with all others";
  join_members(causes, is_member, std::move(cause));
}

}  // namespace

bool is_gpu(std::string_view part) {
  constexpr std::string_view kGpu = "gpu";
  return part.size() > kGpu.size() && part.starts_with(kGpu) &&
         part.find_first_not_of("0123456789", kGpu.size()) == part.npos;
}

std::size_t gpus_measured(std::span<const Checked> checked, std::string_view measure) {
  Parts parts;
  for (const auto& each : checked)
    if (is_gpu(each.part) && each.met != Met::missing &&
        (measure.empty() || each.measure == measure))
      parts.insert(each.part);
  return parts.size();
}

bool is_limited_by_partners(std::size_t gpus, std::size_t sick) {
  const std::size_t needed = gpus > 3 ? 2 : 1;
  return gpus < sick + 1 + needed;
}

void join_common_faults(std::span<const Checked> checked, std::vector<Cause>& causes) {
  if (std::ranges::none_of(causes, explains_links)) {
    join_link_xids(checked, causes);
    join_lost_links(checked, causes);
  }
  for (const auto measure : kPairRates) join_pairs(checked, measure, true, causes);
  for (const auto measure : kPairCounts) join_pairs(checked, measure, false, causes);
}

}  // namespace cupel::burnin
