#include "orchestrator/steps/kernel_watch.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/ssh/node_paths.h"
#include "orchestrator/ssh/run_command.h"
#include "orchestrator/steps/bmc_watch.h"
#include "orchestrator/steps/follower.h"
#include "playbooks/plan.h"

namespace cupel::steps {
namespace {

using engine::StepEnd;
using engine::StepRequest;
using std::chrono::seconds;

constexpr seconds kConnectPatience{90}, kReadPatience{60}, kBringPatience{300};
constexpr std::size_t kMostReadings = 4u << 20;  // bytes of one stage
constexpr std::string_view kMark = "kernel_log_mark";
/// Instead of a position: the whole boot, which a step of this run began.
constexpr std::string_view kFromBoot = "boot";

bool is_judged(const StepEnvironment& environment, const inventory::Node& node) {
  const auto profile = environment.inventory.profiles.find(node.profile);
  if (profile == environment.inventory.profiles.end()) return false;
  return std::ranges::any_of(profile->second.criteria, [](const auto& criterion) {
    return criterion.stage == burnin::kernel_log_stage().name;
  });
}

/// From the journal what is not on the board.
BmcBoard::Kernel& known_of(const StepEnvironment& environment, const StepRequest& request) {
  auto& known = environment.board->kernels[request.node.name];
  if (known.mark) return known;
  const auto reported = record::node_record(environment.store, request.run, request.node.name);
  known.mark = reported ? reported->kernel_log_mark : std::string{};
  return known;
}

/// "4f1c2b0a-...:7123"; empty where the document does not say.
std::string mark_in(const std::string& document) {
  const auto parsed = parse_json(document);
  if (!parsed) return {};
  const auto boot = text_at(*parsed, "boot");
  const auto last = number_at(*parsed, "last");
  constexpr double kMost = 9e15;
  const bool sound = boot && !boot->empty() && boot->size() <= 64 && last && *last >= 0 &&
                     *last <= kMost &&
                     boot->find_first_not_of("0123456789abcdefABCDEF-") == boot->npos;
  return sound ? fmt::format("{}:{:.0f}", *boot, *last) : std::string{};
}

/// The same document without what it says of the time before: later stages need its places alone.
std::string places_of(const std::string& document) {
  auto parsed = parse_json(document);
  if (!parsed || !parsed->is_object()) return document;
  for (const auto* key : {"messages", "records", "lost", "restarted", "from_boot", "rows_left_out"})
    parsed->get_object().erase(key);
  return json::serialize(*parsed) + "\n";
}

std::string failed(std::string_view why, bool reads_later) {
  const json::object reported{{"failed", valid_utf8(why)}, {"reads_later", reads_later}};
  return json::serialize(reported) + "\n";
}

/// What people read beside the stage's own end.
std::string in_words(const burnin::Findings& found) {
  std::string text;
  for (const auto& [name, what] : found.facts) {
    if (text.size() > 300) break;
    text += (text.empty() ? "" : "; ") + what;
  }
  return text;
}

}  // namespace

bool KernelWatch::is_watched() const {
  if (!is_judged(environment_, request_.node)) return false;
  const auto& mark = *known_of(environment_, request_).mark;
  const bool begun = !mark.empty() && mark != kFromBoot;
  return begun || burnin::is_load(*burnin::stage(request_.step.name));
}

/// Its path on the node, brought there where the controller has one.
Task<Result<std::string>> KernelWatch::program(ssh::Session& session) {
  const bool is_there = !known_of(environment_, request_).program.empty();
  const bool sudo = request_.node.ssh.sudo;
  std::string folder{ssh::kProgramFolder};
  if (environment_.programs) folder = environment_.programs->on_node();
  if (environment_.programs && !is_there) {
    const auto no_job = std::string{ssh::kJobFolder} + "/cupel-kernel-log";
    std::vector<std::string> names{std::string{ssh::kNodeProgram}};
    CO_TRY(const auto brought,
           co_await ssh::ensure_programs(session, *environment_.programs, std::move(names), no_job,
                                         sudo, request_.deadline.sooner(kBringPatience)));
    if (!brought.why_not.empty()) co_return Error{Code::kFailed, brought.why_not};
  }
  CO_TRY(auto path, co_await ssh::known_node_program(session, std::move(folder), sudo,
                                                     request_.deadline.sooner(kReadPatience)));
  known_of(environment_, request_).program = path;
  co_return path;
}

/// One document, with its line's end. Errors: as Session::run(); kFailed: no cupel-node runs there.
Task<Result<std::string>> KernelWatch::read(ssh::Session& session, std::string mark) {
  CO_TRY(const auto path, co_await program(session));
  const auto colon = mark.find(':');
  std::vector<std::string> words{path, std::string{burnin::kernel_log_stage().name}};
  if (mark == kFromBoot) words.emplace_back("--from-boot");
  if (colon != mark.npos)
    for (const auto& word : {std::string{"--boot"}, mark.substr(0, colon), std::string{"--after"},
                             mark.substr(colon + 1)})
      words.push_back(word);
  CO_TRY(const auto news,
         co_await ssh::run_command(session, std::move(words), request_.node.ssh.sudo,
                                   request_.deadline.sooner(kReadPatience)));
  if (news.status == 0 && news.out.ends_with('\n')) co_return news.out;
  const auto why = shortened(printable(trimmed(news.err)), 300);
  co_return Error{
      Code::kFailed,
      why.empty() ? "cupel-node kernel-log ended with status " + std::to_string(news.status) : why};
}

Task<void> KernelWatch::before() {
  if (!is_watched()) co_return;
  const auto known = *known_of(environment_, request_).mark;
  const bool from_boot = known == kFromBoot;
  if (!known.empty() && !from_boot) co_return;
  request_.waiting("the kernel's log");
  const auto until = request_.deadline.sooner(kConnectPatience);
  auto session = co_await connected(environment_, request_, until);
  if (!session) co_return;
  const auto document = co_await read(**session, known);
  request_.waiting("");
  if (!document) co_return;
  mark_ = began_at_ = mark_in(*document);
  if (mark_.empty()) co_return;
  environment_.board->kernels[request_.node.name].first = places_of(*document);
  if (from_boot) readings_ = *document;
}

Task<void> KernelWatch::meanwhile(ssh::Session& session) {
  const auto now = Deadline::Clock::now();
  const bool due = next_ != Deadline::Clock::time_point{} && now >= next_;
  if (due || next_ == Deadline::Clock::time_point{}) next_ = now + every_;
  if (!due || !is_watched() || readings_.size() > kMostReadings) co_return;
  if (mark_.empty()) mark_ = *known_of(environment_, request_).mark;
  if (mark_.empty()) co_return;
  const auto document = co_await read(session, mark_);
  if (!document) co_return;
  const auto mark = mark_in(*document);
  if (mark.empty()) co_return;
  mark_ = mark;
  readings_ += *document;
}

Task<void> KernelWatch::after(StepEnd& end, ssh::Session* session) {
  if (!is_watched()) co_return;
  request_.waiting("the kernel's log");
  if (mark_.empty()) mark_ = *known_of(environment_, request_).mark;
  std::unique_ptr<ssh::Session> own;
  Result<std::string> document = Error{Code::kUnreachable, "no session"};
  if (session != nullptr) document = co_await read(*session, mark_);
  if (!document && is_transient(document.error().code)) {
    const auto until = request_.deadline.sooner(kConnectPatience);
    auto again = co_await connected(environment_, request_, until);
    if (again) {
      own = *std::move(again);
      document = co_await read(*own, mark_);
    } else {
      document = std::move(again).error();
    }
  }
  request_.waiting("");
  auto& known = known_of(environment_, request_);
  burnin::Output output;
  // What was read meanwhile is read again where the last reading did not come.
  output.beside = document ? known.first + readings_ + *document
                           : failed(document.error().what, !mark_.empty());
  const auto hash = environment_.store.keep_evidence(output.beside);
  const auto& profile = environment_.inventory.profile_of(request_.node);
  auto found = burnin::kernel_log_stage().parse(profile, output);
  if (!found) {
    output.beside = failed(found.error().what, !mark_.empty());
    found = burnin::kernel_log_stage().parse(profile, output);
  }
  if (!found) co_return;
  co_await tell_restart(*found);
  auto log = record::to_json(*found);
  log["evidence"] = hash ? *hash : std::string{};
  end.found["kernel_log"] = std::move(log);
  // Where it could not be read a later reading begins where this one should have.
  const auto now = document ? mark_in(*document) : std::string{};
  const auto mark = now.empty() && known.mark->empty() ? began_at_ : now;
  if (!mark.empty()) {
    end.found[kMark] = mark;
    // Until the journal has it, nobody may build on it; nor on the one before it once it has.
    known.mark.reset();
    new_mark_ = mark;
  }
  if (const auto words = in_words(*found); !words.empty())
    end.detail += "; in the kernel's log: " + words;
}

/// Beside a restart that no step of the run began: what the BMC's log gained meanwhile.
Task<void> KernelWatch::tell_restart(burnin::Findings& found) {
  const auto restarted = std::ranges::find_if(found.measurements, [](const auto& each) {
    return each.name == "node.restarted" && each.value != 0;
  });
  if (restarted == found.measurements.end()) co_return;
  const auto bmc = environment_.bmc(request_.node);
  const auto news = co_await new_in_log(environment_, *bmc, request_);
  co_await bmc->log_out();
  std::string of_bmc{"what the BMC's log gained is not known"};
  if (news) of_bmc = news->empty() ? "the BMC's log gained nothing" : "the BMC's log: " + *news;
  auto& words = restarted->traced_to;
  words += (words.empty() ? "" : "; ") + of_bmc;
  found.facts["node.restarted"] = "the node restarted by itself " + words;
}

std::function<void()> KernelWatch::when_written() const {
  return [board = environment_.board, node = request_.node.name, mark = new_mark_] {
    if (mark) board->kernels[node].mark = *mark;
  };
}

void KernelWatch::begin_with_boot(StepEnd& end) { end.found[kMark] = kFromBoot; }

void KernelWatch::forget(StepEnvironment& environment, const StepRequest& request, StepEnd& end) {
  const bool judged = is_judged(environment, request.node);
  const bool from_boot = end.found.contains(kMark);
  if (!judged) end.found.erase(kMark);
  if (!judged) return;
  // Nothing has read it yet; a power-on that found the machine on takes no boot back.
  const auto known = *known_of(environment, request).mark;
  if (!from_boot && (known.empty() || known == kFromBoot)) return;
  if (!from_boot) end.found[kMark] = "";
  environment.board->kernels.erase(request.node.name);
}

}  // namespace cupel::steps
