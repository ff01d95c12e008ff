#include "burnin/gpu/burn_output.h"

#include <algorithm>

#include "base/text.h"
#include "burnin/gpu/nvlink.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using std::chrono::seconds;

constexpr std::string_view kStage = "cupel-burn";
constexpr seconds kSelfTest{60};  // what it may take; it says itself where it was too slow
constexpr seconds kSettle{300};   // until the GPUs are idle, with an nvidia-smi that is slow
constexpr std::string_view kTypes = "--types ";
constexpr std::size_t kMostSections = 64;

json::array array_of(const std::vector<std::string>& words) {
  json::array all;
  for (const auto& word : words) all.emplace_back(word);
  return all;
}

/// Of an earlier version's script.
class ScriptReader {
 public:
  explicit ScriptReader(BurnOutput& into) : into_{into} {}

  void read(std::string_view line) {
    const auto after = [&](std::string_view mark) {
      return line.starts_with(mark) ? std::optional{trimmed(line.substr(mark.size()))}
                                    : std::nullopt;
    };
    if (const auto section = after("cupel-section: "))
      begin(*section);
    else if (const auto status = after("cupel-self-test-status: "))
      into_.self_test_status = number<int>(*status).value_or(-1);
    else if (const auto ended = after("cupel-run-status: "))
      into_.run_status = number<int>(*ended).value_or(-1);
    else if (const auto busy = after("cupel-busy: "))
      into_.busy = *busy == "yes";
    else if (const auto before = after("cupel-kernel-before: "))
      into_.kernel_before = *before;
    else if (const auto arguments = after("cupel-arguments: "))
      take_types(*arguments);
    else if (section_ != nullptr && into_.sections.size() < kMostSections)
      add(line);
  }

 private:
  void begin(std::string_view section) {
    into_.whole = section == "end";
    section_ = into_.whole ? nullptr : &into_.sections[std::string{section}];
  }
  void take_types(std::string_view arguments) {
    const auto at = arguments.find(kTypes);
    const auto types = words(arguments.substr(std::min(at, arguments.size())));
    if (types.size() > 1) into_.types = types[1];
  }
  void add(std::string_view line) {
    into_.reads_kernel = into_.reads_kernel || line == kKernelLogMark;
    section_->push_back(line);
  }

  BurnOutput& into_;
  std::vector<std::string_view>* section_ = nullptr;
};

std::string_view note_of(const AgentOutput& output, std::string_view name) {
  const auto found = output.notes.find(name);
  return found == output.notes.end() ? std::string_view{} : std::string_view{found->second};
}

BurnOutput read_agent(AgentOutput output) {
  BurnOutput read;
  const auto& agent = read.agent.emplace(std::move(output));
  read.whole = agent.whole;
  read.seconds = agent.amount("seconds");
  read.busy = note_of(agent, "busy") == "yes";
  read.types = note_of(agent, "types");
  read.kernel_before = note_of(agent, "kernel-before");
  for (const auto* name : {"gpus", "apps", "self-test", "run", "samples", "kernel"})
    if (const auto* tool = agent.tool(name)) read.sections[name] = lines(tool->out);
  const auto* kernel = agent.tool("kernel");
  read.reads_kernel = kernel != nullptr && kernel->status == 0;
  if (const auto* test = agent.tool("self-test")) {
    read.self_test_status = test->status;
    read.self_test_complaint = script::complaint({"", test->errors});
  }
  if (const auto* samples = agent.tool("samples")) read.samples_cut = samples->cut;
  if (const auto* run = agent.tool("run")) {
    read.run_status = run->status;
    read.cut = run->cut;
    read.run_complaint = script::complaint({"", run->errors});
  }
  return read;
}

BurnOutput read_script(const Output& output) {
  BurnOutput read;
  ScriptReader reader{read};
  for (const auto line : lines(output.text)) reader.read(line);
  read.seconds = script::asked(output, "seconds");
  read.self_test_complaint = read.run_complaint = script::complaint(output);
  return read;
}

}  // namespace

seconds sampling_period(seconds duration) {
  return std::clamp(duration / 480, seconds{5}, seconds{60});
}

AgentWork agent_work(const BurnWork& work) {
  const auto duration = work.duration;
  // Memory is given back, and the last round is finished.
  const auto margin = std::max(duration / 10, seconds{300});
  const auto limit = duration + margin + kSelfTest + kSettle;
  return {.order = {.stage = kStage,
                    .order = {{"command", work.command},
                              {"seconds", duration.count()},
                              {"period", sampling_period(duration).count()},
                              {"limit", limit.count()},
                              {"arguments", array_of(work.arguments)},
                              {"self-test", array_of(work.of_self_test)}},
                    .tools = {"cupel-burn", "nvidia-smi"}},
          .expected = duration + seconds{15},
          .limit = limit};
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

Result<BurnOutput> read_burn_output(const Output& output) {
  TRY(auto agent, read_agent_so_far(kStage, output, {}));
  return agent ? read_agent(*std::move(agent)) : read_script(output);
}

}  // namespace cupel::burnin
