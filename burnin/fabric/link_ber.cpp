#include <fmt/format.h>

#include <algorithm>

#include "burnin/fabric/ber_limits.h"
#include "burnin/fabric/counter_growth.h"
#include "burnin/fabric/link_criteria.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kTooShort = "BER: up for less than 125 minutes, or not known how long";

void compare(Ber ber, double value, const LinkKind& kind, const PortId& port, Opinion& opinion) {
  const auto limit = ber_limit(kind, ber);
  if (!limit) {
    opinion.unassessed.emplace_back(
        fmt::format("BER: no limit is known for this speed, FEC and medium ({}, {})", kind.speed,
                    to_string(kind.medium)),
        port);
    return;
  }
  if (value < limit->strict) return;
  if (value < limit->lax) {
    opinion.unassessed.emplace_back(
        fmt::format("{}: between the limits {:.0e} and {:.0e}; FEC, medium or chip decide which",
                    to_string(ber), limit->strict, limit->lax),
        port);
    return;
  }
  using enum LinkFault;
  const auto fault = ber == Ber::raw ? raw_ber : ber == Ber::effective ? effective_ber : symbol_ber;
  opinion.defects.push_back(
      {fault, fmt::format("{} {:.1e} at {}: limit {:.0e} ({}, {})", to_string(ber), value,
                          to_string(port), limit->lax, kind.speed, to_string(kind.medium))});
}

/// On the line, FEC included; 0 where the speed or the width is not known.
double bits_of(const LinkKind& kind, int width, double minutes) {
  constexpr double kBitsOfGbit = 1e9, kSecondsOfMinute = 60;
  return lane_gbit(kind.speed).value_or(0) * kBitsOfGbit * width * minutes * kSecondsOfMinute;
}

/// The reported one, or by the errors since the counters were cleared where these are more.
double symbol_ber_of(const MlxlinkReport& report, const LinkKind& kind, int width) {
  const auto errors = report.counters.find("Symbol Errors");
  const auto reported = report.symbol_ber.value_or(0);
  const double bits = bits_of(kind, width, report.minutes_since_clear.value_or(0));
  if (errors == report.counters.end() || !(bits > 0)) return reported;
  return std::max(reported, static_cast<double>(errors->second) / bits);
}

/// By SymbolErrorCounter and the bits of the line in the time between the looks.
void judge_counted(const LinkCase& one, const LinkKind& kind, const PortId& port,
                   Opinion& opinion) {
  const double bits = bits_of(kind, one.link.width, one.minutes());
  if (one.before == nullptr || one.minutes() < kMinutesOfBer || one.may_have_gone_down()) {
    opinion.unassessed.emplace_back(kTooShort, port);
    return;
  }
  const auto growth = growth_of(*one.before, one.after, port, "SymbolErrorCounter");
  if (!growth.judged() || !(bits > 0)) {
    opinion.unassessed.emplace_back("symbol BER: its counter, the speed or the width is not known",
                                    port);
    return;
  }
  compare(Ber::symbol, static_cast<double>(growth.by) / bits, kind, port, opinion);
}

void judge_end(const LinkCase& one, const PortId& port, Opinion& opinion) {
  const auto* report = one.report(port);
  LinkKind kind{.speed = one.link.speed};
  if (report == nullptr) return judge_counted(one, kind, port, opinion);
  const bool has_ber =
      report->raw_ber || report->effective_ber || report->symbol_ber || report->minutes_since_clear;
  constexpr std::string_view kActive = "Active";
  if (report->state != kActive) {
    opinion.defects.push_back(
        {LinkFault::not_active,
         fmt::format(
             "{} is in state {}, opcode {}: {}", to_string(port), report->state, report->opcode,
             report->recommendation.empty() ? "no reason reported" : report->recommendation)});
    return;
  }
  if (!report->speed.empty()) kind.speed = report->speed;
  kind.fec = fec_of(report->fec);
  kind.medium = medium_of(report->module.type);
  kind.chip = chip_of(report->firmware);
  // Of the cable alone.
  if (!has_ber) return judge_counted(one, kind, port, opinion);
  if (!ber_counts(one, *report)) {
    opinion.unassessed.emplace_back(kTooShort, port);
    return;
  }
  if (report->raw_ber) compare(Ber::raw, *report->raw_ber, kind, port, opinion);
  if (report->effective_ber) compare(Ber::effective, *report->effective_ber, kind, port, opinion);
  if (report->symbol_ber)
    compare(Ber::symbol,
            symbol_ber_of(*report, kind, report->width > 0 ? report->width : one.link.width), kind,
            port, opinion);
  else if (lane_gbit(kind.speed))
    judge_counted(one, kind, port, opinion);
}

}  // namespace

double LinkCase::minutes() const {
  if (before == nullptr) return 0;
  return std::chrono::duration<double, std::ratio<60>>{after.taken - before->taken}.count();
}

const MlxlinkReport* LinkCase::report(const PortId& port) const {
  const auto found = after.reports.find(port);
  return found == after.reports.end() ? nullptr : &found->second;
}

const MlxlinkReport* LinkCase::earlier_report(const PortId& port) const {
  if (before == nullptr) return nullptr;
  const auto found = before->reports.find(port);
  return found == before->reports.end() ? nullptr : &found->second;
}

bool LinkCase::may_have_gone_down() const {
  if (before == nullptr) return false;
  const auto down = [&](const PortId& port) {
    const auto growth = link_downs(*before, after, port);
    return growth.grew() || growth.known == Growth::Known::reset;
  };
  return down(link.from) || down(link.to);
}

bool ber_counts(const LinkCase& one, const MlxlinkReport& report) {
  return report.minutes_since_clear.value_or(0) >= kMinutesOfBer && !one.may_have_gone_down();
}

void judge_ber(const LinkCase& one, Opinion& opinion) {
  judge_end(one, one.link.from, opinion);
  judge_end(one, one.link.to, opinion);
}

}  // namespace cupel::burnin
