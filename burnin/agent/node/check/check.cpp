#include "burnin/agent/node/check/check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/text.h"
#include "burnin/agent/common/json_line.h"
#include "burnin/agent/common/options.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/check/judge_node.h"
#include "burnin/agent/node/check/run_command.h"
#include "burnin/agent/node/check/slurm_node.h"
#include "burnin/agent/node/facts/sections.h"
#include "burnin/agent/node/watch/log_reading.h"

namespace cupel::agent {
namespace {

constexpr int kNotWell = 1;
constexpr std::string_view kAcknowledged = "/run/cupel-check.json";
constexpr std::size_t kMostJobGpus = 64;
constexpr char kBetween = '\n';

struct CheckAsked {
  std::string root{}, nvml{}, expect{}, acknowledged{}, phase{}, node{};
  bool expect_named = false, json = false, slurm = false, resume = false, acknowledge = false;
  double limit = 10;
};

/// Where in the kernel's log a person has said that all before it is known; else this boot's start.
LogPosition read_from(const CheckAsked& asked, const Tree& tree) {
  LogPosition from{.boot = tree.text("/proc/sys/kernel/random/boot_id").value_or("")};
  const auto text = read_word(asked.acknowledged);
  const auto reported = text ? JsonValue::parse(*text) : Result<JsonValue>{JsonValue{}};
  if (!reported) return from;
  const auto* boot = reported->find("boot");
  const auto* last = reported->find("last");
  const auto sequence = last == nullptr ? std::nullopt : last->count();
  if (boot != nullptr && boot->text() != nullptr && *boot->text() == from.boot && sequence)
    from.sequence = *sequence;
  return from;
}

/// Both documents, in a process of its own: one line each.
std::string read_node(const void* with) {
  const auto& asked = *static_cast<const CheckAsked*>(with);
  const Tree tree{asked.root};
  const nvml::Library library{asked.nvml};
  std::string text{trimmed(facts_document(tree, library))};
  text += kBetween;
  return text + std::string{trimmed(log_document(tree, {.since = read_from(asked, tree)}))};
}

Result<NodeSeen> seen_in(std::string_view text) {
  const auto end = text.find(kBetween);
  if (end == text.npos) return Error{Code::kMalformed, "reading the node gave half an answer"};
  NodeSeen seen;
  TRY(seen.facts, JsonValue::parse(text.substr(0, end)));
  TRY(seen.log, JsonValue::parse(text.substr(end + 1)));
  return seen;
}

/// Of the job that begins or ends, as Slurm's prolog and epilog receive it: "0,3".
std::vector<unsigned> gpus_of_job(std::string_view phase) {
  std::vector<unsigned> gpus;
  const char* reported = std::getenv("SLURM_JOB_GPUS");
  if (phase == "health" || reported == nullptr) return gpus;
  for (const auto& each : comma_separated(reported))
    if (const auto index = number<unsigned>(each); index && gpus.size() < kMostJobGpus)
      gpus.push_back(*index);
  return gpus;
}

/// Errors: kMalformed; kNotFound where a file was named that is not there.
Result<Expectations> expectations_of(const CheckAsked& asked, bool& found) {
  const auto text = read_small(asked.expect);
  found = text.has_value();
  if (!text && !asked.expect_named && text.error().code == Code::kNotFound) return Expectations{};
  if (!text) return text.error();
  auto expected = parse_expectations(*text);
  if (!expected) return Error{Code::kMalformed, asked.expect + ": " + expected.error().what};
  return expected;
}

/// That all which the log has until now is known.
Result<void> acknowledge(const CheckAsked& asked, const JsonValue& log) {
  const auto* boot = log.find("boot");
  const auto* last = log.find("last");
  if (boot == nullptr || boot->text() == nullptr || last == nullptr || !last->count())
    return Error{Code::kFailed, "the kernel's log cannot be read: nothing to acknowledge"};
  JsonLine line{"acknowledged"};
  line.add("boot", std::string_view{*boot->text()}).add("last", *last->count());
  return write_durably(asked.acknowledged, line.text());
}

int could_not(const CheckAsked& asked, const Error& error) {
  JsonLine line{"check"};
  line.add("well", false).add("found_out", false).add("error", std::string_view{error.what});
  if (asked.json) write_all(1, line.text());
  write_all(2, "cupel-node check: " + error.what + "; nothing was done\n");
  return kFoundOutNothing;
}

void print_result(const CheckAsked& asked, const std::vector<Complaint>& bad, bool compared,
                  const std::string& done) {
  if (asked.json) {
    JsonLine line{"check"};
    line.add("well", bad.empty()).add("found_out", true).add("compared", compared);
    line.array("complaints");
    for (const auto& each : bad) {
      line.object().add("part", std::string_view{each.part});
      line.add("what", std::string_view{each.what}).end();
    }
    line.end().add("slurm", std::string_view{done});
    write_all(1, line.text());
    return;
  }
  std::string text;
  for (const auto& each : bad) text += to_string(each) + "\n";
  if (bad.empty())
    text +=
        compared ? "well\n" : "well; counts were compared with nothing: no " + asked.expect + "\n";
  if (!done.empty()) text += done + "\n";
  write_all(1, text);
}

int check(const CheckAsked& asked) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::milliseconds{static_cast<int>(asked.limit * 1000)};
  bool compared = false;
  const auto expected = expectations_of(asked, compared);
  if (!expected) return could_not(asked, expected.error());
  const auto read = run_apart(read_node, &asked, deadline);
  if (!read) return could_not(asked, read.error());
  auto seen = seen_in(*read);
  if (!seen) return could_not(asked, seen.error());
  if (asked.acknowledge) {
    if (const auto written = acknowledge(asked, seen->log); !written)
      return could_not(asked, written.error());
    return write_all(1, "known from now on: what the kernel's log has\n") ? kDone : kCannotWrite;
  }
  seen->job_gpus = gpus_of_job(asked.phase);
  auto bad = judge_node(*expected, *seen);
  for (auto& each : judge_file_systems(*expected, Tree{asked.root})) bad.push_back(std::move(each));
  std::string done;
  if (asked.slurm) {
    std::vector<std::string> words;
    for (const auto& each : bad) words.push_back(to_string(each));
    const auto name = slurm_name(asked.node);
    const auto settled = name ? settle_in_slurm(*name, words, asked.resume, deadline)
                              : Result<std::string>{name.error()};
    done = settled ? *settled : "Slurm: " + settled.error().what;
  }
  print_result(asked, bad, compared, done);
  return bad.empty() ? kDone : kNotWell;
}

}  // namespace

int check_node(Arguments arguments) {
  using Kind = Choice::Kind;
  constexpr std::array kChoices{
      Choice{.name = "--expect", .kind = Kind::kText, .fallback = kExpectationsFile},
      Choice{.name = "--phase",
             .kind = Kind::kWord,
             .fallback = "health",
             .words = "health,prolog,epilog"},
      Choice{.name = "--slurm"},
      Choice{.name = "--resume"},
      Choice{.name = "--node", .kind = Kind::kText},
      Choice{.name = "--acknowledge"},
      Choice{.name = "--json"},
      Choice{.name = "--limit", .kind = Kind::kSeconds, .fallback = "10", .low = 0.5, .high = 300},
      Choice{.name = "--acknowledged", .kind = Kind::kText, .fallback = kAcknowledged},
      Choice{.name = "--root", .kind = Kind::kText, .fallback = "/"},
      Choice{.name = "--nvml", .kind = Kind::kText, .fallback = nvml::kFileName}};
  const auto options = Options::read(kChoices, arguments);
  if (!options || !options->operands().empty())
    return write_all(2, options ? "cupel-node check: it takes options only\n"
                                : "cupel-node check: " + options.error().what + "\n"),
           kUsage;
  CheckAsked asked{.root = options->text("--root"),
                   .nvml = options->text("--nvml"),
                   .expect = options->text("--expect"),
                   .acknowledged = options->text("--acknowledged"),
                   .phase = options->text("--phase"),
                   .node = options->text("--node"),
                   .expect_named = options->given("--expect"),
                   .json = options->flag("--json"),
                   .slurm = options->flag("--slurm"),
                   .resume = options->flag("--resume"),
                   .acknowledge = options->flag("--acknowledge"),
                   .limit = options->number("--limit")};
  return check(asked);
}

}  // namespace cupel::agent
