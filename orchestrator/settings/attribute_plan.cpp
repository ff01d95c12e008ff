#include "orchestrator/settings/attribute_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "bmc/bios.h"
#include "bmc/bios_dependencies.h"

namespace cupel::settings {
namespace {

using bmc::BiosDependency;
using bmc::BiosOutcome;
using Names = std::vector<std::string>;

constexpr int kMostRounds = 32;
constexpr std::size_t kMostShown = 4;

bool alike(const std::string& one, const std::string& other) {
  return lower_case(one) == lower_case(other);
}

bool is_among(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string text_of(const bmc::BiosValue* value) {
  return value == nullptr ? std::string{} : bmc::to_text(*value);
}

/// "A", "A or B", "A, B, C, D or 3 others".
std::string choice_of(Names values) {
  for (auto& value : values) value = printable(value);
  const auto others = values.size() > kMostShown ? values.size() - kMostShown : 0;
  if (others > 0) values.resize(kMostShown);
  if (others > 0) return fmt::format("{} or {} others", fmt::join(values, ", "), others);
  auto last = std::move(values.back());
  values.pop_back();
  return values.empty() ? last : fmt::format("{} or {}", fmt::join(values, ", "), last);
}

/// What is current, without what an iDRAC shows so before the boot: what that was is not known.
bmc::BiosValues before_the_boot(const bmc::BiosSettings& bios) {
  auto values = bios.current;
  for (const auto& [name, value] : bios.pending) {
    const auto shown = values.find(name);
    if (shown != values.end() && bmc::same_setting(shown->second, value)) values.erase(shown);
  }
  return values;
}

/// What becomes of one expected attribute.
struct Verdict {
  SettingState state = SettingState::differs;
  std::string text{};    // why it is refused; else what others have to do with it
  bool is_sent = false;  // else it is so, becomes so by others, or cannot be set now
  Names causes{};        // the attributes by whose values it is refused
  /// It does not come to have its value by this apply: what depends on that is not so either.
  bool is_dropped() const {
    return state == SettingState::refused || state == SettingState::after_boot;
  }
};

class AttributePlan {
 public:
  AttributePlan(const ReportedSettings& reported, const std::vector<ExpectedAttribute>& expected,
                SettingsPlan& plan)
      : bios_{*reported.bios},
        registry_{bmc::without_conditional_locks(reported.bios_registry, *reported.bios)},
        now_{before_the_boot(bios_)},
        present_{registry_, now_, {}},
        staged_{registry_, now_, bios_.pending},
        expected_{expected},
        plan_{plan} {}

  void run() {
    auto left = expected_;
    for (int round = 1; !left.empty(); ++round) {
      const auto after = with(left);
      if (round == 1) say_what_is_not_evaluated(after);
      std::vector<Verdict> verdicts;
      Names dropped;
      for (const auto& each : left) {
        verdicts.push_back(judge(each, after));
        if (verdicts.back().is_dropped()) dropped.push_back(each.attribute);
      }
      const bool last = dropped.empty() || round >= kMostRounds;
      left = conclude(left, verdicts, last ? Names{} : dropped, last);
    }
  }

 private:
  /// The machine once all of them are set.
  BiosOutcome with(const std::vector<ExpectedAttribute>& expected) const {
    auto set = bios_.pending;
    for (const auto& each : expected) set.insert_or_assign(each.attribute, each.value);
    return {registry_, now_, set};
  }

  /// Writes the verdicts that hold, and returns what is to be judged again: without those that are
  /// dropped, and so are not what keeps another from being set.
  std::vector<ExpectedAttribute> conclude(const std::vector<ExpectedAttribute>& left,
                                          const std::vector<Verdict>& verdicts,
                                          const Names& dropped, bool last) {
    const auto by_dropped = [&](const Verdict& verdict) {
      return std::ranges::any_of(verdict.causes,
                                 [&](const auto& name) { return is_among(dropped, name); });
    };
    const bool round_about = std::ranges::all_of(verdicts, [&](const auto& verdict) {
      return !verdict.is_dropped() || by_dropped(verdict);
    });
    std::vector<ExpectedAttribute> again;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const bool concluded =
          last || (verdicts[i].is_dropped() && (round_about || !by_dropped(verdicts[i])));
      if (concluded)
        write(left[i], verdicts[i]);
      else
        again.push_back(left[i]);
    }
    return again;
  }

  void write(const ExpectedAttribute& expected, const Verdict& verdict) {
    auto& item = plan_.items[expected.item];
    item.state = verdict.state;
    (verdict.state == SettingState::refused ? item.refusal : item.note) = verdict.text;
    if (verdict.is_sent) plan_.bios.insert_or_assign(expected.attribute, expected.value);
  }

  Verdict judge(const ExpectedAttribute& expected, const BiosOutcome& after) const {
    const auto& [attribute, value, item] = expected;
    if (const auto bounds = out_of_bounds(expected, after); !bounds.empty())
      return {.state = SettingState::refused, .text = attribute + " is " + bounds};
    const auto* setter = after.maker_of(attribute, bmc::kCurrentValue);
    const auto becomes = text_of(after.value(attribute));
    if (!alike(becomes, value)) return changed_by_others(expected, after, becomes);
    if (alike(text_of(staged_.value(attribute)), value)) return staged(expected, after);
    if (setter != nullptr)
      return {.text = printable("set by the boot, as " + after.reason_of(*setter))};
    if (after.is_locked(attribute)) return locked(expected, after);
    if (!present_.is_locked_now(attribute))
      return {.text = inactive(attribute, after), .is_sent = true};
    const auto* lock = present_.maker_of(attribute, bmc::kReadOnly);
    const auto why =
        "read-only now" + (lock == nullptr ? "" : ", while " + present_.reason_of(*lock));
    if (!staged_.is_locked(attribute)) return {.state = SettingState::after_boot, .text = why};
    return {.text = why + ": sent with what changes that", .is_sent = true};
  }

  Verdict staged(const ExpectedAttribute& expected, const BiosOutcome& after) const {
    const bool waits = bios_.pending.contains(expected.attribute) ||
                       !alike(bmc::to_text(bios_.current.at(expected.attribute)), expected.value);
    return {.state = waits ? SettingState::waits_for_boot : SettingState::as_expected,
            .text = inactive(expected.attribute, after)};
  }

  /// The boot that makes others current sets another value.
  Verdict changed_by_others(const ExpectedAttribute& expected, const BiosOutcome& after,
                            const std::string& becomes) const {
    if (after.is_locked(expected.attribute)) return locked(expected, after);
    const auto* setter = after.maker_of(expected.attribute, bmc::kCurrentValue);
    const auto why = setter == nullptr ? std::string{} : ", as " + after.reason_of(*setter);
    return {.state = SettingState::after_boot,
            .text = "the next boot sets it to " + becomes + why + " then"};
  }

  Verdict locked(const ExpectedAttribute& expected, const BiosOutcome& after) const {
    const auto& attribute = expected.attribute;
    const auto* lock = after.maker_of(attribute, bmc::kReadOnly);
    Verdict verdict{.state = SettingState::refused, .text = printable(attribute) + " is read-only"};
    if (lock == nullptr) return verdict;
    verdict.causes = after.causes_of(*lock);
    verdict.text += " while " + after.reason_of(*lock);
    const auto becomes = text_of(after.value(attribute));
    if (!alike(becomes, expected.value)) verdict.text += ", which sets it to " + becomes;
    if (!verdict.causes.empty()) verdict.text += way_out(attribute, verdict.causes.front(), after);
    return verdict;
  }

  std::string way_out(const std::string& attribute, const std::string& cause,
                      const BiosOutcome& after) const {
    const auto values = after.values_that_unlock(attribute, cause);
    const auto ours = std::ranges::find(expected_, cause, &ExpectedAttribute::attribute);
    if (values.empty()) return {};
    if (ours != expected_.end() && alike(text_of(after.value(cause)), ours->value))
      return fmt::format("; the profile wants that too ({}), and {} has to be {}",
                         plan_.items[ours->item].name, printable(cause), choice_of(values));
    if (ours != expected_.end())
      return fmt::format("; {} has to be {}, and cannot be set", printable(cause),
                         choice_of(values));
    if (values.size() == 1)
      return fmt::format("; add {}: {}", printable(cause), printable(values.front()));
    return fmt::format("; add {}, as {}", printable(cause), choice_of(values));
  }

  /// DSP0268: a grayed-out attribute can be set, and is not active.
  std::string inactive(const std::string& attribute, const BiosOutcome& after) const {
    const auto* gray = after.maker_of(attribute, bmc::kGrayOut);
    if (gray == nullptr || !bmc::is_true(after.property(attribute, bmc::kGrayOut))) return {};
    return "without effect while " + after.reason_of(*gray);
  }

  /// What a number may be, where the expected one may not; empty: it may, or is none.
  std::string out_of_bounds(const ExpectedAttribute& expected, const BiosOutcome& after) const {
    const auto value = number<double>(expected.value);
    const auto rule = registry_.rules.find(expected.attribute);
    if (!value || rule == registry_.rules.end()) return {};
    const auto bound = [&](std::string_view name, std::optional<double> usual) {
      const auto* made = after.property(expected.attribute, name);
      return made == nullptr ? usual : number<double>(bmc::to_text(*made));
    };
    const auto least = bound("LowerBound", rule->second.least);
    const auto most = bound("UpperBound", rule->second.most);
    if (least && *value < *least) return "at least " + plain(*least);
    if (most && *value > *most) return "at most " + plain(*most);
    return {};
  }

  void say_what_is_not_evaluated(const BiosOutcome& after) {
    const auto concerns = [&](const auto& unusable) {
      return unusable.first.empty() ||
             std::ranges::find(expected_, unusable.first, &ExpectedAttribute::attribute) !=
                 expected_.end();
    };
    const auto& all = registry_.unusable;
    const auto first = std::ranges::find_if(all, concerns);
    if (first != all.end())
      plan_.notes.push_back(fmt::format(
          "{} of the BIOS registry's dependencies ignored, the first{}: {}",
          std::ranges::count_if(all, concerns),
          first->first.empty() ? "" : " for " + printable(first->first), first->second));
    if (registry_.cut > 0)
      plan_.notes.push_back(
          fmt::format("the BIOS registry has {} dependencies more than are evaluated: the BMC may "
                      "refuse what the plan does not",
                      registry_.cut));
    if (!after.settled())
      plan_.notes.emplace_back(
          "dependencies of the BIOS registry go round: what they change is not certain");
  }

  const bmc::BiosSettings& bios_;
  const bmc::BiosRegistry registry_;
  const bmc::BiosValues now_;
  const BiosOutcome present_, staged_;
  const std::vector<ExpectedAttribute>& expected_;
  SettingsPlan& plan_;
};

}  // namespace

void plan_attributes(const ReportedSettings& reported,
                     const std::vector<ExpectedAttribute>& expected, SettingsPlan& plan) {
  if (!expected.empty()) AttributePlan{reported, expected, plan}.run();
}

}  // namespace cupel::settings
