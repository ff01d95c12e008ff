// What a certificate of a rack costs: so many nodes with 500 measurements and as many criteria
// each, read from a store, written, signed, and verified, with the journal beside it. The store's
// making is not in it. certificate_bench [NODES]
#include <fmt/format.h>

#include <filesystem>

#include "base/digest.h"
#include "base/file.h"
#include "base/signature.h"
#include "base/text.h"
#include "burnin/criteria/judge.h"
#include "inventory/criterion.h"
#include "inventory/profile.h"
#include "orchestrator/certificate/envelope.h"
#include "orchestrator/certificate/statement.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/store/journal_file.h"
#include "tests/bench/cpu_time.h"

namespace {

using namespace cupel;
using engine::EventKind;
namespace fs = std::filesystem;

constexpr int kGpus = 8, kStages = 5;
constexpr std::array<std::string_view, 12> kRates{
    "hbm.copy", "hbm.read",     "hbm.write",    "pcie.h2d", "pcie.d2h",     "pcie.both",
    "p2p.read", "pcie.all.h2d", "pcie.all.d2h", "p2p.both", "pcie.far.h2d", "pcie.far.d2h"};

template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error{result.error().what};
  return *std::move(result);
}
void need(const Result<void>& result) {
  if (!result) throw std::runtime_error{result.error().what};
}

std::string gpu_name(int index) { return fmt::format("gpu{}", index); }

/// Twelve rates of eight GPUs, and the errors of four.
burnin::Findings findings(int node, int stage) {
  burnin::Findings found;
  for (int i = 0; i < kGpus; ++i)
    for (const auto rate : kRates)
      found.measurements.push_back(
          {std::string{rate}, gpu_name(i), 1000 + 0.125 * (node % 7) + stage, "GB/s"});
  for (int i = 0; i < 4; ++i)
    found.measurements.push_back({"hbm.errors", gpu_name(i), 0, "errors"});
  return found;
}

std::vector<inventory::Part> parts(int node) {
  using enum inventory::PartKind;
  std::vector<inventory::Part> all;
  for (int i = 0; i < kGpus; ++i)
    all.push_back({.kind = inventory::PartKind::gpu,
                   .name = gpu_name(i),
                   .model = "H100",
                   .serial = fmt::format("165{:05}{}", node, i)});
  for (int i = 0; i < 32; ++i)
    all.push_back({.kind = dimm,
                   .name = fmt::format("dimm {}", i),
                   .serial = fmt::format("D{:05}{:02}", node, i)});
  for (int i = 0; i < 40; ++i)
    all.push_back({.kind = firmware, .name = fmt::format("HGX_FW_{}", i), .firmware = "24.09"});
  return all;
}

inventory::Profile profile() {
  inventory::Profile profile;
  const auto add = [&](std::string_view measure, int gpus, std::string unit) -> auto& {
    inventory::Criterion criterion{.stage = "hbm", .measure = std::string{measure}};
    for (int i = 0; i < gpus; ++i) criterion.parts.push_back(gpu_name(i));
    criterion.unit = std::move(unit);
    criterion.source = "the bench";
    return profile.criteria.emplace_back(std::move(criterion));
  };
  for (const auto rate : kRates) add(rate, kGpus, "GB/s").at_least = 900;
  add("hbm.errors", 4, "errors").at_most = 0;
  return profile;
}

class Filled {
 public:
  Filled(store::Store& store, int nodes) : store_{store} {
    store::Run run;
    run.playbook = "bench";
    for (int i = 0; i < nodes; ++i) run.nodes.push_back(fmt::format("a01-n{:03}", i + 1));
    id_ = need(store.begin_run(run));
    json::array planned, steps{"bmc-facts"};
    for (int stage = 0; stage < kStages; ++stage) steps.emplace_back(step_of(stage));
    steps.emplace_back("verdict");
    for (const auto& name : run.nodes)
      planned.push_back({{"name", name}, {"profile", "p"}, {"rack", "a01"}});
    add({EventKind::run_started,
         "",
         "",
         {{"site", "bench"}, {"nodes", std::move(planned)}, {"steps", std::move(steps)}}});
    for (int i = 0; i < nodes; ++i) fill(run.nodes[static_cast<std::size_t>(i)], i);
    add({EventKind::run_ended});
  }
  engine::RunId id() const { return id_; }

 private:
  static std::string step_of(int stage) { return fmt::format("hbm@{}", stage); }

  void add(engine::Event event) { need(store_.append(id_, event)); }

  void end(const std::string& node, const std::string& step, json::object data) {
    add({EventKind::step_began, node, step});
    data["outcome"] = "done";
    add({EventKind::step_ended, node, step, std::move(data)});
  }

  void fill(const std::string& node, int index) {
    end(node, "bmc-facts",
        {{"bmc_parts", record::to_json(parts(index))},
         {"system_serial", fmt::format("S{:05}", index)}});
    burnin::FindingsByStage all;
    std::set<std::string, std::less<>> stages;
    for (int stage = 0; stage < kStages; ++stage) {
      auto found = findings(index, stage);
      auto data = record::to_json(found);
      data["evidence"] = sha256_hex(node + step_of(stage));
      end(node, step_of(stage), std::move(data));
      stages.insert(step_of(stage));
      all[step_of(stage)] = std::move(found);
    }
    burnin::Verdict verdict{.decision = burnin::Decision::pass};
    verdict.checked = burnin::judge(profile_, stages, all);
    end(node, "verdict", record::to_json(verdict));
  }

  store::Store& store_;
  const inventory::Profile profile_ = profile();
  engine::RunId id_ = 0;
};

/// As the command does it.
std::string issue(const store::Store& store, engine::RunId run, const SigningKey& key,
                  const std::string& journal) {
  const auto summary = need(report::summarize(store, run));
  if (need(store.broken_at(run))) throw std::runtime_error{"the journal is broken"};
  certificate::Issue issue{.by = "bench"};
  issue.at = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  issue.expires = issue.at + std::chrono::hours{24};
  issue.kept = need(certificate::kept_runs(store, summary));
  issue.journal_sha256 = need(store::write_journal(store, run, journal)).sha256;
  const auto statement = need(certificate::statement_of(summary, issue));
  return need(certificate::seal(certificate::payload_of(statement), key));
}

std::size_t verify(std::string_view sealed, const std::string& open_key,
                   const std::string& journal) {
  const std::vector<std::string> keys{open_key};
  const auto opened = need(certificate::open(sealed, keys));
  const auto says = need(certificate::read_statement(opened.payload));
  if (need(store::check_journal(journal)).head != says.head)
    throw std::runtime_error{"another journal"};
  std::size_t criteria = 0;
  for (const auto& node : says.nodes) criteria += node.criteria;
  return criteria;
}

}  // namespace

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? number<int>(std::string_view{argv[1]}).value_or(72) : 72;
  auto folder = (fs::temp_directory_path() / "cupel-certificate-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const auto store = need(store::Store::open(folder));
  const auto run = Filled{*store, nodes}.id();
  const auto secret = need(make_signing_key());
  const auto key = need(SigningKey::of_private_key(secret));
  const auto journal = folder + "/journal";

  const double began = bench::cpu_seconds();
  const auto sealed = issue(*store, run, key, journal);
  const double issued = bench::cpu_seconds();
  const auto criteria = verify(sealed, key.public_key(), journal);
  const double verified = bench::cpu_seconds();

  fmt::print(
      "{} nodes, {} criteria: CPU {:.2f} s to issue (limit: 2 s), {:.2f} s to verify; {:.1f} MB, "
      "journal {:.1f} MB\n",
      nodes, criteria, issued - began, verified - issued, static_cast<double>(sealed.size()) / 1e6,
      static_cast<double>(fs::file_size(journal)) / 1e6);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return criteria == static_cast<std::size_t>(nodes) * 500 ? 0 : 1;
}
