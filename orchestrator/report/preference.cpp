#include "orchestrator/report/preference.h"

#include <algorithm>

#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/yaml.h"

namespace cupel::report {
namespace {

using std::chrono::seconds;

constexpr double kEnough = 0.9, kSame = 1e-9;

using Present = std::vector<std::string_view>;  // base names of steps

bool is_present(const Present& steps, std::string_view name) {
  return std::ranges::find(steps, burnin::base_name(name)) != steps.end();
}

bool measures(const burnin::Stage& stage, std::string_view check) {
  return std::ranges::find(stage.measures, check) != stage.measures.end();
}

/// Both logs are read after every stage.
bool is_of_a_log(std::string_view check) {
  return measures(burnin::bmc_log_stage(), check) || measures(burnin::kernel_log_stage(), check);
}

bool is_checked(std::string_view check, const Present& steps) {
  for (const std::string_view step : {"stage ", "step "})
    if (check.starts_with(step)) return is_present(steps, check.substr(step.size()));
  if (check.starts_with("audit: ")) return is_present(steps, "audit");
  if (check.starts_with("same ")) return is_present(steps, "verdict");
  constexpr std::string_view kFleet = "fleet: ";
  if (check.starts_with(kFleet)) check.remove_prefix(kFleet.size());
  const bool in_log = is_of_a_log(check);
  return std::ranges::any_of(steps, [&](std::string_view name) {
    const auto* stage = burnin::stage(name);
    return stage != nullptr && (in_log || measures(*stage, check));
  });
}

bool shows(const FaultNeeds& fault, const Present& steps, seconds worked) {
  const auto present = [&](const std::string& name) { return is_present(steps, name); };
  return fault.after <= worked && std::ranges::all_of(fault.under, present) &&
         is_checked(fault.check, steps);
}

/// What one choice of steps shows.
struct Shown {
  double share = 0;
  std::vector<std::string> faults{};
};

class Worth {
 public:
  Worth(const PartShares& shares, std::span<const FaultNeeds> faults,
        const std::vector<std::string>& always)
      : shares_{shares}, faults_{faults}, always_{always} {}

  Shown of(std::span<const LoadStep> loads) const {
    Present steps;
    seconds worked{0};
    for (const auto& name : always_) steps.push_back(burnin::base_name(name));
    for (const auto& load : loads) {
      steps.push_back(burnin::base_name(load.name));
      worked += load.expected;
    }
    Shown all;
    for (const auto& part : shares_.parts) {
      std::size_t known = 0, shown = 0;
      for (const auto& fault : faults_) {
        if (std::ranges::find(part.faults, fault.fault) == part.faults.end()) continue;
        ++known;
        if (!shows(fault, steps, worked)) continue;
        ++shown;
        all.faults.push_back(fault.fault);
      }
      if (known > 0)
        all.share += part.share * static_cast<double>(shown) / static_cast<double>(known);
    }
    return all;
  }

 private:
  const PartShares& shares_;
  std::span<const FaultNeeds> faults_;
  const std::vector<std::string>& always_;
};

double minutes_of(seconds time) {
  return std::max<double>(static_cast<double>(time.count()), 1) / 60;
}

/// The step that loses the least for the time that it saves, the later one of two alike; taken out.
RankedStep take_least(const Worth& worth, std::vector<LoadStep>& loads, double shown) {
  std::size_t least = 0;
  RankedStep found;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    auto others = loads;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    RankedStep step{loads[i].name, loads[i].expected, shown - worth.of(others).share};
    if (i > 0 && step.per_minute() > found.per_minute() + kSame) continue;
    found = std::move(step);
    least = i;
  }
  loads.erase(loads.begin() + static_cast<std::ptrdiff_t>(least));
  return found;
}

void add_faults(const inventory::YamlValue& plant, FaultNeeds& needs) {
  if (plant.kind == inventory::YamlValue::Kind::list) {
    for (const auto& each : plant.items) add_faults(each, needs);
    return;
  }
  if (const auto* under = plant.entry("under")) needs.under.push_back(under->text);
  const auto* after = plant.entry("after");
  const auto begins = after == nullptr ? std::nullopt : inventory::duration_of(after->text);
  needs.after = std::max(needs.after, begins.value_or(seconds{0}));
}

}  // namespace

double RankedStep::per_minute() const { return share / minutes_of(expected); }

std::vector<FaultNeeds> parse_fault_needs(std::string_view text, const std::string& file,
                                          std::vector<inventory::Problem>& problems) {
  std::vector<FaultNeeds> all;
  const auto document = inventory::parse_yaml(text, file, problems);
  const auto* list = document ? document->root.entry("faults") : nullptr;
  if (list == nullptr) return all;
  for (const auto& item : list->items) {
    const auto* name = item.entry("name");
    const auto* finds = item.entry("finds");
    const auto* check = finds == nullptr ? nullptr : finds->entry("check");
    if (name == nullptr || check == nullptr) continue;
    FaultNeeds needs{.fault = name->text, .check = check->text};
    if (const auto* plant = item.entry("plant")) add_faults(*plant, needs);
    all.push_back(std::move(needs));
  }
  return all;
}

Ranking rank_steps(const PartShares& shares, std::span<const FaultNeeds> faults,
                   const std::vector<std::string>& always, std::vector<LoadStep> loads,
                   Prefer prefer) {
  const Worth worth{shares, faults, always};
  const auto whole = worth.of(loads);
  Ranking ranking;
  ranking.whole = whole.share;
  for (auto shown = whole.share; !loads.empty(); shown = worth.of(loads).share)
    ranking.steps.insert(ranking.steps.begin(), take_least(worth, loads, shown));
  const auto threshold = prefer == Prefer::time ? kEnough * whole.share : whole.share;
  auto shown = worth.of(loads);
  std::vector<LoadStep> kept;
  for (auto& step : ranking.steps) {
    step.kept = shown.share < threshold - kSame;
    if (!step.kept) continue;
    kept.push_back({step.name, step.expected});
    shown = worth.of(kept);
  }
  ranking.kept = shown.share;
  for (const auto& fault : whole.faults)
    if (std::ranges::find(shown.faults, fault) == shown.faults.end())
      ranking.escaped.push_back(fault);
  return ranking;
}

}  // namespace cupel::report
