#include "burnin/gpu/burn_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "burnin/gpu/idle_gpus.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using std::chrono::seconds;

constexpr seconds kSelfTest{60};  // what it may take; it says itself where it was too slow
constexpr seconds kSelfTestEnds{50};
constexpr seconds kSettle{300};  // until the GPUs are idle, with an nvidia-smi that is slow
constexpr std::string_view kSection = "cupel-section: ";
constexpr std::string_view kArguments = "cupel-arguments: ";
constexpr std::string_view kTypes = "--types ";

constexpr std::string_view kBegin = R"sh(sampler=
scratch=$(mktemp -d /tmp/cupel-burn.XXXXXX) || exit 73
finish() {
  if [ -n "$sampler" ]; then kill "$sampler" 2>/dev/null; fi
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 143' HUP INT TERM
)sh";

constexpr std::string_view kIdle = R"sh(echo 'cupel-section: gpus'
printf '%s\n' "$gpus"
echo 'cupel-section: apps'
printf '%s\n' "$apps"
echo "cupel-busy: $busy"
if [ $busy = yes ]; then exit 0; fi
)sh";

/// Drivers before 535 know the reasons by their older name. One nvidia-smi samples for as long as
/// the burn lasts: a new one each time would wake and ask the driver anew.
constexpr std::string_view kBeside =
    R"sh(echo "cupel-kernel-before: $(dmesg 2>/dev/null | tail -n 1 | cut -d']' -f1)"
reasons=clocks_event_reasons.active
if smi --query-gpu=$reasons | grep -q 'not a valid field'; then
  reasons=clocks_throttle_reasons.active
fi
)sh";

constexpr std::string_view kEnd = R"sh(echo 'cupel-section: samples'
if [ -n "$sampler" ]; then
  kill "$sampler" 2>/dev/null
  sampler=
  tail -c 4000000 "$scratch/samples"
fi
echo 'cupel-section: kernel'
if dmesg >/dev/null 2>&1; then
  echo 'cupel-kernel-log: told'
  dmesg | grep -e 'NVRM: Xid' -e 'SXid' | tail -n 400
fi
echo 'cupel-section: end'
exit 0
)sh";

std::string run_lines(std::string_view command, const std::string& arguments,
                      const std::string& test_arguments, seconds duration) {
  return fmt::format(
      "period={}\n"
      "echo '{}self-test'\n"
      "timeout {} cupel-burn {} --seconds {}{} --self-test\n"
      "status=$?\n"
      "echo \"cupel-self-test-status: $status\"\n"
      "if [ $status -eq 0 ]; then\n"
      "  stdbuf -oL nvidia-smi --query-gpu=pci.bus_id,temperature.gpu,temperature.memory,"
      "$reasons,power.draw,enforced.power.limit,clocks.sm --format=csv,noheader,nounits -l "
      "$period "
      ">\"$scratch/samples\" 2>/dev/null &\n"
      "  sampler=$!\n"
      "  echo '{}run'\n"
      "  cupel-burn {} {}\n"
      "  echo \"cupel-run-status: $?\"\n"
      "fi\n",
      sampling_period(duration).count(), kSection, kSelfTest.count(), command,
      kSelfTestEnds.count(), test_arguments, kSection, command, arguments);
}

int status_in(std::string_view text) { return number<int>(trimmed(text)).value_or(-1); }

}  // namespace

seconds sampling_period(seconds duration) {
  return std::clamp(duration / 480, seconds{5}, seconds{60});
}

Job burn_job(std::string_view command, const std::string& arguments,
             const std::string& test_arguments, seconds duration) {
  std::string text = script::head() + script::needs("cupel-burn") + script::needs("nvidia-smi");
  text += script::asks("seconds", static_cast<double>(duration.count()));
  text += fmt::format("echo '{}{}'\n", kArguments, arguments);
  text += kBegin;
  text += wait_for_idle_gpus();
  text += kIdle;
  text += kBeside;
  text += run_lines(command, arguments, test_arguments, duration);
  text += kEnd;
  // Memory is given back, and the last round is finished.
  const auto margin = std::max(duration / 10, seconds{300});
  return Job{std::move(text), duration + seconds{15}, duration + margin + kSelfTest + kSettle};
}

const std::vector<std::string_view>& BurnOutput::lines_of(std::string_view section) const {
  static const std::vector<std::string_view> kNone;
  const auto found = sections.find(section);
  return found == sections.end() ? kNone : found->second;
}

std::string BurnOutput::text_of(std::string_view section) const {
  std::string text;
  for (const auto line : lines_of(section)) {
    text += line;
    text += '\n';
  }
  return text;
}

BurnOutput read_burn_output(std::string_view text) {
  BurnOutput said;
  std::vector<std::string_view>* into = nullptr;
  const auto after = [](std::string_view line, std::string_view mark) {
    return line.starts_with(mark) ? std::optional{trimmed(line.substr(mark.size()))} : std::nullopt;
  };
  for (const auto line : lines(text)) {
    if (const auto section = after(line, kSection)) {
      said.whole = *section == "end";
      into = said.whole ? nullptr : &said.sections[std::string{*section}];
    } else if (const auto status = after(line, "cupel-self-test-status: ")) {
      said.self_test_status = status_in(*status);
    } else if (const auto ended = after(line, "cupel-run-status: ")) {
      said.run_status = status_in(*ended);
    } else if (const auto busy = after(line, "cupel-busy: ")) {
      said.busy = *busy == "yes";
    } else if (const auto before = after(line, "cupel-kernel-before: ")) {
      said.kernel_before = *before;
    } else if (const auto arguments = after(line, kArguments)) {
      const auto at = arguments->find(kTypes);
      const auto types = words(arguments->substr(std::min(at, arguments->size())));
      if (types.size() > 1) said.types = types[1];
    } else if (into != nullptr && said.sections.size() < 64) {
      into->push_back(line);
    }
  }
  return said;
}

}  // namespace cupel::burnin
