#include "burnin/gpu/burn_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "burnin/gpu/burn_output.h"
#include "burnin/gpu/burn_rows.h"
#include "burnin/gpu/gpu_places.h"
#include "burnin/gpu/idle_gpus.h"
#include "burnin/gpu/nvlink.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;

constexpr std::string_view kSource = "cupel-burn";
constexpr std::array<std::string_view, 16> kMeasures{"burn.complete",
                                                     "burn.gpus",
                                                     "burn.faults",
                                                     "gpu.idle",
                                                     "gpu.hang",
                                                     "gpu.xid",
                                                     "gpu.power",
                                                     "gpu.power.limit",
                                                     "gpu.power.below_best",
                                                     "gpu.clock.sm",
                                                     "gpu.temperature",
                                                     "gpu.throttled",
                                                     "gpu.power_capped",
                                                     "gpu.temperature.memory",
                                                     "kernel_log.readable",
                                                     "nvswitch.sxid"};
constexpr std::size_t kMostUnknown = 64;

void add(Findings& findings, std::string_view name, std::string part, double value,
         std::string_view unit, std::string detail = {}) {
  findings.measurements.push_back(
      {std::string{name}, std::move(part), value, std::string{unit}, std::move(detail)});
}

void add_idle(const BurnOutput& burn, const GpuNames& names, Findings& findings) {
  std::map<std::string, std::string> works;
  for (const auto& row : rows_of(burn, "apps", 3))
    works.emplace(names.name_at(row[0]), fmt::format("{}, process {}", row[2], row[1]));
  for (const auto& row : rows_of(burn, "gpus", 2)) {
    const auto name = names.name_at(row[0]);
    const auto use = script::finite(row[1]);
    if (burn.busy && use && *use > kBusyPercent)
      works.emplace(name, fmt::format("{} % busy", plain(*use)));
    const auto found = works.find(name);
    add(findings, "gpu.idle", name, found == works.end() ? 1 : 0, "",
        found == works.end() ? std::string{} : found->second);
  }
}

struct Sampled {
  std::vector<double> celsius{}, memory_celsius{}, watts{}, limits{}, megahertz{};
  double held = 0, capped = 0, reasons = 0;
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// A limit that is there only while the GPU works is seen only then.
void add_power(const std::map<std::string, Sampled>& by_gpu, Findings& findings) {
  double best = 0;
  for (const auto& [name, gpu] : by_gpu)
    if (!gpu.watts.empty()) best = std::max(best, median_of(gpu.watts));
  for (const auto& [name, gpu] : by_gpu) {
    if (!gpu.limits.empty())
      add(findings, "gpu.power.limit", name, std::ranges::min(gpu.limits), "W");
    if (!gpu.megahertz.empty())
      add(findings, "gpu.clock.sm", name, median_of(gpu.megahertz), "MHz");
    if (gpu.watts.empty()) continue;
    const double watts = median_of(gpu.watts);
    add(findings, "gpu.power", name, watts, "W");
    if (best > 0) add(findings, "gpu.power.below_best", name, 100 * (best - watts) / best, "%");
  }
}

void add_samples(const BurnOutput& burn, const GpuNames& names, Findings& findings) {
  std::map<std::string, Sampled> by_gpu;
  const auto keep = [](std::string_view text, std::vector<double>& into) {
    const auto value = script::finite(text);
    if (value && *value >= 0 && *value < 10000) into.push_back(*value);
  };
  for (const auto& row : rows_of(burn, "samples", 5)) {
    auto& gpu = by_gpu[names.name_at(row[0])];
    keep(row[1], gpu.celsius);
    keep(row[2], gpu.memory_celsius);
    keep(row[4], gpu.watts);
    if (row.size() > 5) keep(row[5], gpu.limits);
    if (row.size() > 6) keep(row[6], gpu.megahertz);
    const auto bits = bits_of(row[3]);
    if (!bits) continue;
    ++gpu.reasons;
    gpu.held += (*bits & kHeldBack) != 0 ? 1 : 0;
    gpu.capped += (*bits & kPowerCap) != 0 ? 1 : 0;
  }
  for (const auto& [name, gpu] : by_gpu) {
    if (!gpu.celsius.empty())
      add(findings, "gpu.temperature", name, std::ranges::max(gpu.celsius), "C");
    if (!gpu.memory_celsius.empty())
      add(findings, "gpu.temperature.memory", name, std::ranges::max(gpu.memory_celsius), "C");
    if (gpu.reasons == 0) continue;
    add(findings, "gpu.throttled", name, 100 * gpu.held / gpu.reasons, "%");
    add(findings, "gpu.power_capped", name, 100 * gpu.capped / gpu.reasons, "%");
  }
  add_power(by_gpu, findings);
}

/// "[  123.456789": the kernel's own clock, which is no other's.
std::optional<double> stamp_of(std::string_view line) {
  if (!line.starts_with('[')) return std::nullopt;
  return script::finite(trimmed(line.substr(1, line.find(']') - 1)));
}

/// Of the kernel's log what was written while the stage ran.
void add_kernel(const BurnOutput& burn, const GpuNames& names, const BurnReport& run,
                std::span<const std::string> places, Findings& findings) {
  if (burn.whole) add(findings, "kernel_log.readable", "", burn.reads_kernel ? 1 : 0, "");
  std::string fresh = burn.reads_kernel ? std::string{kKernelLogMark} + "\n" : std::string{};
  const auto before = stamp_of(burn.kernel_before);
  for (const auto line : burn.lines_of("kernel")) {
    const auto at = stamp_of(trimmed(line));
    const bool is_old = at && before && *at <= *before;
    if (!is_old) fresh += std::string{line} + "\n";
  }
  std::vector<KnownGpu> known;
  for (const auto& gpu : run.gpus) known.push_back({names.name_at(gpu.pci), gpu.uuid, gpu.pci});
  for (const auto& row : rows_of(burn, "gpus", 2))
    if (std::ranges::find(known, names.name_at(row[0]), &KnownGpu::name) == known.end())
      known.push_back({names.name_at(row[0]), "", row[0]});
  add_xids(fresh, known, places, findings);
}

/// "gpu3" of cupel-burn, "gpu0-gpu1": in the profile's words. Nothing where it never reported such.
std::optional<std::string> part_named(std::string_view reported, const BurnReport& run,
                                      const GpuNames& names) {
  if (reported.empty()) return std::string{};
  std::string part;
  for (const auto piece : split(reported, '-')) {
    const auto index =
        piece.starts_with("gpu") ? number<int>(piece.substr(3)) : std::optional<int>{};
    const auto found = std::ranges::find_if(
        run.gpus, [&](const BurnGpu& gpu) { return index && gpu.index == *index; });
    if (found == run.gpus.end()) return std::nullopt;
    part += (part.empty() ? "" : "-") + names.name_at(found->pci);
  }
  return part;
}

void add_unknown(Findings& findings, std::string fact, std::string why) {
  if (findings.unknown.size() < kMostUnknown)
    findings.unknown.push_back({std::move(fact), std::string{kSource}, std::move(why)});
}

bool carries(const std::map<std::string, std::string>& labels, std::string_view expected) {
  if (expected.empty()) return true;
  return std::ranges::all_of(split(expected, ','), [&](std::string_view pair) {
    const auto equals = pair.find('=');
    const auto found = labels.find(std::string{pair.substr(0, equals)});
    return found != labels.end() && found->second == pair.substr(equals + 1);
  });
}

const BurnRule* rule_of(const BurnStage& stage, const BurnResult& result) {
  for (const auto& rule : stage.rules)
    if (rule.result == result.name && carries(result.labels, rule.labels)) return &rule;
  return nullptr;
}

std::string words_of(const BurnResult& result) {
  std::string text = result.name;
  for (const auto& [key, value] : result.labels) text += fmt::format(" {}={}", key, value);
  return result.part.empty() ? text : text + " of " + result.part;
}

/// Results whose parts are known and whose numbers can be numbers.
std::vector<NamedResult> named(const BurnReport& run, const GpuNames& names, Findings& findings) {
  std::vector<NamedResult> all;
  for (const auto& result : run.results) {
    const auto part = part_named(result.part, run, names);
    if (!part)
      add_unknown(findings, words_of(result),
                  "there is no such GPU among those that it began with");
    else if (!result.value || *result.value < 0)
      add_unknown(findings, words_of(result), "it is no number, or below zero");
    else
      all.push_back({result.name, *part, result.unit, result.labels, *result.value});
  }
  return all;
}

double folded(Fold fold, double left, double right) {
  if (fold == Fold::least) return std::min(left, right);
  return fold == Fold::most ? std::max(left, right) : left + right;
}

struct Number {
  double value = 0;
  std::string_view unit{};
  Fold fold{};
};
using Numbers = std::map<std::string, std::map<std::string, Number>>;  // by measure and part

Numbers numbers_of(const BurnStage& stage, std::span<const NamedResult> results,
                   Findings& findings) {
  Numbers numbers;
  for (const auto& each : results) {
    const BurnResult reported{each.name, each.part, each.unit, each.labels, each.value};
    const auto* rule = rule_of(stage, reported);
    if (rule == nullptr) continue;
    if (each.unit != rule->unit) {
      add_unknown(findings, words_of(reported),
                  fmt::format("it is in '{}', not in '{}'", each.unit, rule->unit));
      continue;
    }
    auto& parts = numbers[std::string{rule->measure}];
    const auto [place, is_new] =
        parts.emplace(each.part, Number{each.value, rule->unit, rule->fold});
    if (!is_new) place->second.value = folded(rule->fold, place->second.value, each.value);
  }
  return numbers;
}

/// The worst of all parts stands for the node; the part is named where it is alone with it.
void add_node(const std::string& measure, const std::map<std::string, Number>& parts,
              Findings& findings) {
  if (parts.contains("") || parts.empty()) return;
  const auto& first = parts.begin()->second;
  double value = first.value;
  for (auto at = std::next(parts.begin()); at != parts.end(); ++at)
    value = folded(first.fold, value, at->second.value);
  Measurement whole{measure, "", value, std::string{first.unit}};
  std::vector<std::string> worst;
  for (const auto& [part, number] : parts) {
    const bool counts = first.fold == Fold::sum ? number.value > 0 : number.value == value;
    if (counts) worst.push_back(part);
  }
  if (worst.size() == 1) whole.traced_to = worst.front();
  findings.measurements.push_back(std::move(whole));
}

void add_lag(const BurnStage& stage, const Numbers& numbers, Findings& findings) {
  std::map<std::string, double> worst;
  for (const auto rate : stage.rates) {
    const auto found = numbers.find(std::string{rate});
    if (found == numbers.end()) continue;
    double best = 0;
    for (const auto& [part, number] : found->second) best = std::max(best, number.value);
    for (const auto& [part, number] : found->second)
      if (best > 0) worst[part] = std::max(worst[part], 100 * (best - number.value) / best);
  }
  for (const auto& [part, lag] : worst) add(findings, stage.lag, part, lag, "%");
}

/// Faults by the profile's parts, and what was first said of each.
struct Faults {
  std::map<std::string, std::pair<double, std::string>> by_part{};
  double elsewhere = 0;  // of no part that is known
};

Faults faults_of(const BurnStage& stage, const BurnReport& run, const GpuNames& names) {
  Faults faults;
  for (const auto& [reported, count] : run.faults_by_part) {
    const auto part = part_named(reported, run, names);
    const bool counts = part && (!part->empty() || stage.of_node);
    if (!counts) {
      faults.elsewhere += count;
      continue;
    }
    faults.by_part[*part].first += count;
    // Where no results came that tell which of the two it is, both are suspect.
    const auto dash = part->find('-');
    if (dash == part->npos || stage.of_node || (run.end && run.end->complete)) continue;
    faults.by_part[part->substr(0, dash)].first += count;
    faults.by_part[part->substr(dash + 1)].first += count;
  }
  for (const auto& fault : run.faults) {
    const auto part = part_named(fault.part, run, names);
    const auto found = part ? faults.by_part.find(*part) : faults.by_part.end();
    if (found != faults.by_part.end() && found->second.second.empty())
      found->second.second = fault.detail.empty() ? fault.what : fault.detail;
  }
  if (run.fault_lines() == 0 && run.end) faults.elsewhere += run.end->faults;
  return faults;
}

/// A fault counts in the stage's own number of wrong results, whichever of the two tells more.
void add_faults(const BurnStage& stage, const Faults& faults, Findings& findings) {
  for (const auto& [part, reported] : faults.by_part) {
    const auto& [count, detail] = reported;
    const auto asked = stage.of_node ? std::string{} : part;
    auto found = std::ranges::find_if(findings.measurements, [&](const Measurement& each) {
      return each.name == stage.wrong && each.part == asked;
    });
    if (found == findings.measurements.end()) {
      add(findings, stage.wrong, asked, 0, stage.wrong_unit);
      found = std::prev(findings.measurements.end());
    }
    found->value = std::max(found->value, count);
    if (!asked.empty())
      found->traced_to = detail;
    else
      found->traced_to = faults.by_part.size() == 1 ? part : std::string{};
  }
  add(findings, "burn.faults", "", faults.elsewhere, "errors");
}

/// `all`: GPUs that did not hang are reported, too. Of one that may hang nothing is: it is unknown.
void add_hangs(const BurnReport& run, const GpuNames& names, bool all, Findings& findings) {
  std::map<std::string, std::string> hung, late;
  std::string pair;
  for (const auto& hang : run.hangs) {
    const auto words = fmt::format("{}, for {} s", hang.doing, plain(hang.seconds, 0));
    const auto named = part_named(hang.part, run, names).value_or("");
    if (const auto dash = named.find('-'); dash != named.npos) {  // one of the two, or their link
      hung.emplace("", words);
      pair = named;
      late.emplace(named.substr(0, dash), words);
      late.emplace(named.substr(dash + 1), words);
      continue;
    }
    hung.emplace(named, words);
    for (const auto& each : hang.late)
      if (const auto part = part_named(each, run, names); part && !part->empty())
        late.emplace(*part, words);
  }
  std::set<std::string> parts{""};
  for (const auto& gpu : run.gpus) parts.insert(names.name_at(gpu.pci));
  for (const auto& part : parts) {
    const auto found = hung.find(part);
    const auto may = late.find(part);
    if (found != hung.end()) {
      add(findings, "gpu.hang", part, 1, "", part.empty() ? pair : found->second);
      add_unknown(findings, part.empty() ? "the node" : part, "it hung in " + found->second);
    } else if (may != late.end()) {
      add_unknown(findings, part,
                  "it made no progress either, and may be the one that hangs: " + may->second);
    } else if (all) {
      add(findings, "gpu.hang", part, 0, "");
    }
  }
}

/// `failed`: parts of which only that counts.
void add_results(const BurnStage& stage, const BurnReport& run, const GpuNames& names,
                 const std::set<std::string>& failed, Findings& findings) {
  auto results = named(run, names, findings);
  std::erase_if(results, [&](const NamedResult& each) { return failed.contains(each.part); });
  const auto numbers = numbers_of(stage, results, findings);
  for (const auto& [measure, parts] : numbers) {
    for (const auto& [part, number] : parts)
      add(findings, measure, part, number.value, number.unit);
    if (stage.of_node) add_node(measure, parts, findings);
  }
  add_lag(stage, numbers, findings);
  if (stage.more != nullptr) stage.more(results, findings);
  std::set<std::string> gpus;
  for (const auto& gpu : run.gpus) gpus.insert(names.name_at(gpu.pci));
  add(findings, "burn.gpus", "", static_cast<double>(gpus.size()), "GPUs");
}

/// GPUs of which a fault, a hang or an Xid is known.
std::set<std::string> failed_parts(const Faults& faults, const BurnReport& run,
                                   const GpuNames& names, const Findings& findings) {
  std::set<std::string> failed;
  for (const auto& [part, reported] : faults.by_part) failed.insert(part);
  for (const auto& hang : run.hangs)
    if (const auto part = part_named(hang.part, run, names)) failed.insert(*part);
  for (const auto& each : findings.measurements)
    if (each.name == "gpu.xid" && each.value > 0) failed.insert(each.part);
  return failed;
}

/// "No error" counts only after the program has found an error that it planted itself.
Result<void> check_self_test(const BurnReport& test, int status, std::string_view complaint) {
  TRY(within("self-test", check_whole(test, status, complaint)));
  if (test.self_tests.empty())
    return Error{Code::kNoMeasurement, "cupel-burn planted no error in its self-test"};
  for (const auto& each : test.self_tests)
    if (!each.found)
      return Error{Code::kNoMeasurement,
                   fmt::format("cupel-burn did not find the error that it planted ({})",
                               each.planted.empty() ? "unnamed" : each.planted)};
  return ok();
}

Result<void> check_all(const BurnOutput& burn, const BurnReport& test, const BurnReport& run,
                       const BurnStage& stage) {
  TRY(check_self_test(test, burn.self_test_status, burn.self_test_complaint));
  TRY(check_whole(run, burn.run_status, burn.run_complaint));
  if (run.command != stage.name)
    return Error{Code::kNoMeasurement,
                 fmt::format("cupel-burn did {}, not {}", run.command, stage.name)};
  if (burn.cut) return Error{Code::kNoMeasurement, "cupel-burn printed more than cupel-node keeps"};
  if (!burn.whole) return Error{Code::kNoMeasurement, "the stage's output is cut short"};
  return ok();
}

bool tells_a_fault(const Findings& findings) {
  return std::ranges::any_of(findings.measurements, [](const Measurement& each) {
    const bool of_kernel = each.name == "gpu.xid" || each.name == "nvswitch.sxid";
    return of_kernel && each.value > 0;
  });
}

void add_facts(const BurnReport& run, Findings& findings) {
  for (const auto& [name, value] : {std::pair{"burn.version", run.version},
                                    {"burn.cuda", run.cuda},
                                    {"burn.driver", run.driver},
                                    {"burn.nccl", run.nccl}})
    if (!value.empty()) findings.facts[name] = value;
}

}  // namespace

std::span<const std::string_view> burn_measures() { return kMeasures; }

Result<Findings> burn_findings(const BurnStage& stage, const Profile& profile,
                               const Output& output) {
  TRY(const auto burn, read_burn_output(output));
  auto test = read_burn(burn.text_of("self-test"));
  // What it planted is no fault of the machine's.
  test.faults_by_part.clear();
  if (test.end) test.end->faults = 0;
  const auto run = read_burn(burn.text_of("run"));
  const auto& numbering = run.started ? run : test;
  const auto names = names_of(profile, burn, numbering);
  Findings findings;
  add_idle(burn, names, findings);
  if (burn.busy) {
    add(findings, "burn.complete", "", 0, "");
    add_unknown(findings, std::string{stage.name}, "the GPUs were not idle: nothing was run");
    return findings;
  }
  add_kernel(burn, names, numbering, gpu_places(profile), findings);
  add_samples(burn, names, findings);
  if (burn.samples_cut)
    add_unknown(findings, "sensors of the GPUs until the end", "only the first samples were kept");
  auto whole = check_all(burn, test, run, stage);
  if (whole) whole = check_types(burn.types, profile, run, findings);
  const auto faults = faults_of(stage, run, names);
  const bool hung = !run.hangs.empty() || !test.hangs.empty();
  const bool bad =
      hung || !faults.by_part.empty() || faults.elsewhere > 0 || tells_a_fault(findings);
  if (!whole && !bad) return whole.error();
  add(findings, "burn.complete", "", whole ? 1 : 0, "");
  if (!whole)
    add_unknown(findings, fmt::format("the rest of {}", stage.name),
                script::clean(whole.error().what));
  const bool others_count = stage.gpus_are_apart && run.end && !run.end->stopped;
  if (whole)
    add_results(stage, run, names, {}, findings);
  else if (others_count)
    add_results(stage, run, names, failed_parts(faults, run, names, findings), findings);
  add_faults(stage, faults, findings);
  add_hangs(run.hangs.empty() && !test.hangs.empty() ? test : run, names,
            whole.has_value() || others_count, findings);
  add_facts(run, findings);
  return findings;
}

}  // namespace cupel::burnin
