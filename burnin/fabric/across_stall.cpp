#include <fmt/format.h>

#include <algorithm>

#include "burnin/fabric/across_judge.h"

namespace cupel::burnin::fabric {
namespace {

class Staller {
 public:
  Staller(const TeamRun& run, std::span<const std::string> nodes) : run_{run}, nodes_{nodes} {}

  std::optional<Stall> find() const {
    if (!run_.gave_up.empty()) return given_up();
    if (std::ranges::all_of(run_.reports, ended)) return std::nullopt;
    for (const auto search :
         {&Staller::absent, &Staller::refused, &Staller::behind, &Staller::silent})
      if (auto stall = (this->*search)(); !stall.nodes.empty()) return stall;
    return Stall{{}, unreported()};
  }

 private:
  static bool ended(const std::optional<AcrossReport>& report) {
    return report && report->status && report->burn.end && report->burn.end->complete;
  }

  const std::string& name(std::size_t place) const { return nodes_[run_.team.members[place]]; }

  template <class Is>
  Stall each(const Is& is, std::string_view why) const {
    Stall stall;
    for (std::size_t place = 0; place < run_.reports.size(); ++place) {
      const auto stalled = is(run_.reports[place], place);
      if (!stalled) continue;
      stall.nodes.push_back(place);
      stall.why +=
          fmt::format("{}{}{}{}", stall.why.empty() ? "" : "; ", name(place), why, *stalled);
    }
    return stall;
  }

  static constexpr std::string_view kFailed = " failed: ";
  using Report = std::optional<AcrossReport>;
  using Words = std::optional<std::string>;

  /// No report at all: its job failed, or never began.
  Stall absent() const {
    return each(
        [](const Report& report, std::size_t) {
          return !report || !report->burn.started ? Words{""} : std::nullopt;
        },
        " did not come: there is no report of its job");
  }

  /// It failed by itself, and said why: that is no waiting for others.
  Stall refused() const {
    return each([](const Report& report, std::size_t) { return own_error(*report); }, kFailed);
  }

  static Words own_error(const AcrossReport& report) {
    const auto& errors = report.burn.errors;
    const bool own = !errors.empty() && errors.front().code != "nccl";
    return own ? Words{errors.front().message} : std::nullopt;
  }

  /// Only the first member was begun, which the others wait for. It may have failed by itself, and
  /// has where it never made the id: no other node had a part in that.
  Stall given_up() const {
    if (!run_.reports.empty() && run_.reports.front()) {
      const auto& first = *run_.reports.front();
      auto own = own_error(first);
      if (!own && !first.made_id && !first.burn.errors.empty())
        own = first.burn.errors.front().message;
      if (own) return Stall{{0}, name(0) + std::string{kFailed} + *own};
    }
    return Stall{{}, run_.gave_up};
  }

  /// Ranks that have not entered what the others wait in.
  Stall behind() const {
    std::optional<std::int64_t> least, most;
    for (const auto& report : run_.reports)
      for (const auto number : report->entered) {
        least = std::min(least.value_or(number), number);
        most = std::max(most.value_or(number), number);
      }
    if (!least || *least == *most) return {};
    return each(
        [&](const Report& report, std::size_t place) -> Words {
          std::string ranks;
          for (std::size_t i = 0; i < report->entered.size(); ++i)
            if (report->entered[i] == *least)
              ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ",
                                   place * static_cast<std::size_t>(run_.ranks_each) + i);
          if (ranks.empty()) return std::nullopt;
          return fmt::format(" (rank {}) has not entered operation {} ({})", ranks, *most,
                             doing(*most));
        },
        "");
  }

  /// Of whoever is in that operation.
  std::string doing(std::int64_t number) const {
    for (const auto& report : run_.reports)
      for (const auto entered : report->entered)
        if (entered == number && !report->doing.empty()) return report->doing;
    return "not reported";
  }

  /// It joined, and neither ended nor said where it is: it died, or its node does not answer.
  Stall silent() const {
    const bool others_tell = std::ranges::any_of(
        run_.reports, [](const Report& report) { return !report->entered.empty(); });
    if (!others_tell) return {};
    return each(
        [](const Report& report, std::size_t) {
          return report->entered.empty() && !report->burn.end ? Words{""} : std::nullopt;
        },
        " joined, and ended without a word");
  }

  std::string unreported() const {
    std::string why;
    const auto has_joined = [](const Report& report) { return report->joined; };
    if (std::ranges::none_of(run_.reports, has_joined))
      why = "all nodes began, and their ranks did not find each other";
    for (const auto& report : run_.reports)
      if (!report->burn.errors.empty())
        return fmt::format("{}{}{}", why, why.empty() ? "" : ": ",
                           report->burn.errors.front().message);
    return why.empty() ? "it did not come to its end; which rank is late is not known" : why;
  }

  const TeamRun& run_;
  std::span<const std::string> nodes_;
};

}  // namespace

std::optional<Stall> stall_of(const TeamRun& run, std::span<const std::string> nodes) {
  return Staller{run, nodes}.find();
}

}  // namespace cupel::burnin::fabric
