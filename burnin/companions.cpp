#include "burnin/companions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 2> kCompanions{"cpu", "memory"};
constexpr std::string_view kStream = "stream";

/// Of each NUMA node: cupel-burn has a thread or two for each GPU, and NCCL some of its own.
constexpr std::string_view kSpare = "8";
/// The rest is for the driver's and cupel-burn's own memory, pinned buffers among it, and for the
/// kernel: a test that is killed for memory proves nothing.
constexpr std::string_view kMemory = "70%";
constexpr seconds kLongestStream{30}, kShortestStream{5};

constexpr std::string_view kMark = "cupel-companion: ", kErrors = "cupel-companion-errors: ";

constexpr std::string_view kBegin = R"sh(beside=
sides=
end_sides() {
  for each in $sides; do kill "${each#*:}" 2>/dev/null; done
}
trap 'end_sides; rm -rf "$beside"' EXIT
trap 'exit 143' HUP INT TERM
beside=$(mktemp -d "${TMPDIR:-/tmp}/cupel-beside.XXXXXX") || exit 73
)sh";

/// Where the GPUs' part ends early, nothing is left to work beside.
constexpr std::string_view kEnd = R"sh(status=$?
if [ $((until - $(date +%s))) -gt 60 ]; then end_sides; fi
for each in $sides; do
  wait "${each#*:}"
  echo "cupel-companion: ${each%%:*} $?"
  cat "$beside/${each%%:*}"
  echo "cupel-companion-errors: ${each%%:*}"
  head -n 20 "$beside/${each%%:*}.errors"
done
sides=
echo "cupel-companion: end $status"
exit $status
)sh";

bool takes(const Stage& stage, std::string_view parameter) {
  return std::ranges::find(stage.parameters, parameter, &ParameterRow::name) !=
         stage.parameters.end();
}

/// What each is told: all end at the same time.
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

struct Said {
  std::string name;
  Output output{};
};

/// "cupel-companion: cpu 0", what it printed, "cupel-companion-errors: cpu", its complaints; the
/// stage's own text stands before all of them.
std::vector<Said> split_off(Output& output) {
  std::vector<Said> said;
  const std::string text = output.text;
  std::string* into = nullptr;
  std::size_t own = text.size();
  for (const auto line : lines(text)) {
    const bool begins = line.starts_with(kMark);
    if (begins) own = std::min(own, static_cast<std::size_t>(line.data() - text.data()));
    const auto cells = words(line.substr(std::min(line.size(), kMark.size())));
    const bool known = begins && cells.size() == 2 &&
                       std::ranges::find(kCompanions, cells[0]) != kCompanions.end() &&
                       said.size() < kCompanions.size();
    if (known) {
      said.push_back({std::string{cells[0]}, {}});
      said.back().output.exit_status = number<int>(cells[1]).value_or(-1);
      into = &said.back().output.text;
    } else if (begins) {
      into = nullptr;
    } else if (line.starts_with(kErrors) && !said.empty()) {
      into = &said.back().output.errors;
    } else if (into != nullptr) {
      into->append(line).push_back('\n');
    }
  }
  output.text.resize(own);
  return said;
}

/// What the script was to run beside the stage.
std::vector<std::string> asked_for(std::string_view text) {
  std::vector<std::string> names;
  for (const auto word : words(script::said_in(text, "cupel-beside: ").value_or("")))
    if (std::ranges::find(kCompanions, word) != kCompanions.end()) names.emplace_back(word);
  if (names.size() > kCompanions.size()) names.resize(kCompanions.size());
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
    const bool fits = std::ranges::find(kCompanions, word) != kCompanions.end() &&
                      std::ranges::find(found, companion) == found.end();
    if (!fits)
      return Error{Code::kInvalid, fmt::format("beside must be none, or some of cpu, memory, each "
                                               "once, parted by commas, not '{}'",
                                               shortened(printable(written), 80))};
    found.push_back(companion);
  }
  return found;
}

Result<Job> with_companions(const Stage& one, const inventory::Profile& profile,
                            const Parameters& with, seconds duration, Job job) {
  TRY(const auto found, companions(one, with));
  if (found.empty()) return job;
  std::string names, parts;
  for (const auto* each : found) {
    TRY(const auto theirs, each->prepare(profile, words_for(*each, duration)));
    names += fmt::format(" {}", each->name);
    parts += fmt::format(
        "(\n{0}) >\"$beside/{1}\" 2>\"$beside/{1}.errors\" &\nsides=\"$sides {1}:$!\"\n",
        theirs.script, each->name);
    add_all(job.tools, theirs.tools);
    add_all(job.helpful, theirs.helpful);
    job.expected = std::max(job.expected, theirs.expected);
    job.limit = std::max(job.limit, theirs.limit);
  }
  job.script =
      fmt::format("{}echo 'cupel-beside:{}'\n{}until=$(($(date +%s) + {}))\n{}(\n{})\n{}",
                  script::head(), names, kBegin, duration.count(), parts, job.script, kEnd);
  return job;
}

std::vector<CompanionFindings> take_companions(const inventory::Profile& profile, Output& output) {
  const auto asked = asked_for(output.text);
  if (asked.empty()) return {};
  const auto said = split_off(output);
  std::vector<CompanionFindings> all;
  for (const auto& name : asked) {
    auto& one = all.emplace_back(CompanionFindings{name});
    const auto found = std::ranges::find(said, name, &Said::name);
    auto findings = found == said.end() ? Error{Code::kNoMeasurement, "it did not come to its end"}
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
