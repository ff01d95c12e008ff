#include "burnin/companions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/cpu/cpu.h"
#include "burnin/memory/memory.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using std::chrono::seconds;

struct Companion {
  std::string_view name;
  Result<AgentWork> (*work)(const Parameters& with);
};
constexpr std::array kCompanions{Companion{"cpu", cpu_work}, Companion{"memory", memory_work}};
constexpr std::string_view kStream = "stream";

/// Of each NUMA node: cupel-burn has a thread or two for each GPU, and NCCL some of its own.
constexpr std::string_view kSpare = "8";
/// The rest is for the driver's and cupel-burn's own memory, pinned buffers among it, and for the
/// kernel: a test that is killed for memory proves nothing.
constexpr std::string_view kMemory = "70%";
constexpr seconds kLongestStream{30}, kShortestStream{5};

constexpr std::string_view kMark = "cupel-companion: ", kErrors = "cupel-companion-errors: ";

/// As cupel-node notes which stages it runs beside the one that the job is about.
constexpr std::string_view kNote = R"({"kind":"note","name":"beside","text":")";

const Companion* companion_named(std::string_view name) {
  const auto* found = std::ranges::find(kCompanions, name, &Companion::name);
  return found == kCompanions.end() ? nullptr : found;
}

bool takes(const Stage& stage, std::string_view parameter) {
  return std::ranges::find(stage.parameters, parameter, &ParameterRow::name) !=
         stage.parameters.end();
}

/// What each is given: all end at the same time.
Parameters words_for(const Stage& companion, seconds duration) {
  Parameters with{{"spare", std::string{kSpare}}};
  if (takes(companion, kStream)) {
    const auto stream = std::clamp(duration / 10, kShortestStream, kLongestStream);
    duration = std::max(duration - stream, seconds{1});
    with[std::string{kStream}] = fmt::format("{}s", stream.count());
    with["memory"] = kMemory;
  }
  with["duration"] = fmt::format("{}s", duration.count());
  return with;
}

struct PartOutput {
  std::string name;
  Output output{};
};

/// Of cupel-node: their lines stand between the stage's own, and each names its stage.
std::vector<PartOutput> part_lines(Output& output) {
  std::vector<PartOutput> outputs;
  std::string own;
  const auto whole = output.text.rfind('\n') + 1;  // a line without an end is cut, and stays it
  for (const auto line : lines(std::string_view{output.text}.substr(0, whole))) {
    const auto named = companion_line(line);
    if (!named) {
      own.append(line).push_back('\n');
      continue;
    }
    auto found = std::ranges::find(outputs, named->name, &PartOutput::name);
    if (found == outputs.end()) {
      if (companion_named(named->name) == nullptr) continue;
      found = outputs.insert(outputs.end(), {std::string{named->name}, {}});
    }
    found->output.text.append(named->line).push_back('\n');
  }
  output.text = own.append(output.text, whole);
  return outputs;
}

/// Of an earlier version's script: "cupel-companion: cpu 0", what it printed,
/// "cupel-companion-errors: cpu", its complaints; the stage's own text stands before all of them.
std::vector<PartOutput> split_off(Output& output) {
  std::vector<PartOutput> outputs;
  const std::string text = output.text;
  std::string* into = nullptr;
  std::size_t own = text.size();
  for (const auto line : lines(text)) {
    const bool begins = line.starts_with(kMark);
    if (begins) own = std::min(own, static_cast<std::size_t>(line.data() - text.data()));
    const auto cells = words(line.substr(std::min(line.size(), kMark.size())));
    const bool known = begins && cells.size() == 2 && companion_named(cells[0]) != nullptr &&
                       outputs.size() < kCompanions.size();
    if (known) {
      outputs.push_back({std::string{cells[0]}, {}});
      outputs.back().output.exit_status = number<int>(cells[1]).value_or(-1);
      into = &outputs.back().output.text;
    } else if (begins) {
      into = nullptr;
    } else if (line.starts_with(kErrors) && !outputs.empty()) {
      into = &outputs.back().output.errors;
    } else if (into != nullptr) {
      into->append(line).push_back('\n');
    }
  }
  output.text.resize(own);
  return outputs;
}

/// What was to be run beside the stage: "cpu memory".
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const auto word : words(text))
    if (companion_named(word) != nullptr && names.size() < kCompanions.size())
      names.emplace_back(word);
  return names;
}

void add_all(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const auto& name : more)
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
}

}  // namespace

Result<std::vector<const Stage*>> companions(const Stage& one, const Parameters& with) {
  std::vector<const Stage*> found;
  if (!takes(one, kBeside)) return found;
  const auto written = text_parameter(one.parameters, with, kBeside);
  if (written == "none") return found;
  for (const auto piece : split(written, ',')) {
    const auto word = trimmed(piece);
    const auto* companion = stage(word);
    const bool fits =
        companion_named(word) != nullptr && std::ranges::find(found, companion) == found.end();
    if (!fits)
      return Error{Code::kInvalid, fmt::format("beside must be none, or a comma-separated list of "
                                               "cpu, memory, without duplicates, not '{}'",
                                               shortened(printable(written), 80))};
    found.push_back(companion);
  }
  return found;
}

Result<Job> with_companions(const Stage& one, const Parameters& with, seconds duration,
                            AgentWork work) {
  TRY(const auto found, companions(one, with));
  if (found.empty()) return agent_job(std::move(work));
  json::array beside;
  for (const auto* each : found) {
    TRY(auto theirs, companion_named(each->name)->work(words_for(*each, duration)));
    beside.push_back(json::object{{"stage", each->name}, {"order", std::move(theirs.order.order)}});
    add_all(work.order.tools, theirs.order.tools);
    add_all(work.order.helpful, theirs.order.helpful);
    work.expected = std::max(work.expected, theirs.expected);
    work.limit = std::max(work.limit, theirs.limit);
  }
  work.order.order["limit"] = work.limit.count();
  work.order.order["beside"] = std::move(beside);
  return agent_job(std::move(work));
}

std::vector<CompanionFindings> take_companions(const inventory::Profile& profile, Output& output) {
  const auto noted = script::after_mark_in(output.text, kNote);
  const auto asked =
      names_in(noted ? noted->substr(0, noted->find('"'))
                     : script::after_mark_in(output.text, "cupel-beside: ").value_or(""));
  if (asked.empty()) return {};
  const auto outputs = noted ? part_lines(output) : split_off(output);
  std::vector<CompanionFindings> all;
  for (const auto& name : asked) {
    auto& one = all.emplace_back(CompanionFindings{name});
    const auto found = std::ranges::find(outputs, name, &PartOutput::name);
    auto findings = found == outputs.end()
                        ? Error{Code::kNoMeasurement, "it did not come to its end"}
                        : stage(name)->parse(profile, found->output);
    if (findings)
      one.findings = *std::move(findings);
    else
      one.findings.unknown.push_back({name, "stress-ng", script::clean(findings.error().what)});
  }
  return all;
}

std::string companion_name(std::string_view companion, std::string_view step) {
  return fmt::format("{}@{}", companion, step);
}

double load_share(const Stage& one, const Parameters& with, bool has_gpus) {
  const auto own = [&](const Stage& each) {
    return has_gpus ? each.load.share : each.load.without_gpus;
  };
  auto share = own(one);
  if (const auto found = companions(one, with))
    for (const auto* each : *found) share += own(*each);
  return std::min(share, 1.0);
}

}  // namespace cupel::burnin
