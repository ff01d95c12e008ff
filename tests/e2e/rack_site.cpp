#include "tests/e2e/rack_site.h"

#include <fmt/format.h>

#include "base/file.h"
#include "inventory/load_profile.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<inventory::Problem>& problems) {
  std::string text;
  for (const auto& each : problems) text += each.what + "\n";
  return text;
}

}  // namespace

RackSite::RackSite(Options options) {
  std::string made = (fs::temp_directory_path() / "cupel-rack-site-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
  folder_ = made;
  const auto text = fmt::format(
      "rack: v01\nprofile: dgx-h100\nnodes: v01-n[01-{0:02}]\nbmc: 127.{1}.1.[1-{0}]\n"
      "ssh: 127.{1}.2.[1-{0}]\nbmcs: {{{2}}}\nports: {{{3}}}\nfaults: [{4}]\nrules: [{5}]\n",
      options.nodes, options.network, options.bmcs, options.ports, options.faults, options.rules);
  std::vector<inventory::Problem> problems;
  const auto spec = rehearsal::parse_rack(text, "rack.yaml", problems);
  const auto profile = inventory::ProfileSource{{}}.load("dgx-h100", problems);
  if (!spec || !profile) throw std::runtime_error{joined(problems)};
  rehearsal::RackOptions how;
  how.speed = options.speed;
  how.folder = folder_ / "rack";
  auto rack = rehearsal::VirtualRack::start(*spec, *profile, how);
  if (!rack) throw std::runtime_error{rack.error().what};
  rack_ = *std::move(rack);
  inventory_ = rack_->inventory_yaml();
  write("inventory.yaml", inventory_);
  fs::create_directory(folder_ / "for-virtual-nodes");
  write("for-virtual-nodes/cupel-node", kVirtualProgram, 0755);
}

RackSite::~RackSite() {
  rack_->stop();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void RackSite::change_inventory(const std::string& from, const std::string& to) {
  auto at = inventory_.find(from);
  if (at == std::string::npos) throw std::runtime_error{"not in the inventory: " + from};
  for (; at != std::string::npos; at = inventory_.find(from, at + to.size()))
    inventory_.replace(at, from.size(), to);
  write("inventory.yaml", inventory_);
}

void RackSite::write(const std::string& name, const std::string& text, int mode) const {
  const auto written = write_file(folder_ / name, text, static_cast<mode_t>(mode));
  if (!written) throw std::runtime_error{written.error().what};
}

std::vector<std::string> RackSite::cupel(std::vector<std::string> arguments) const {
  std::vector<std::string> all{"env",        "-C",      folder_.string(),
                               CUPEL_BINARY, "--state", file("state")};
  for (auto& word : with_programs(arguments, file("for-virtual-nodes")))
    all.push_back(std::move(word));
  if (waits_for_repair(arguments)) all.insert(all.end(), {"--wait-for-repair", "0s"});
  return all;
}

Ran RackSite::run(std::vector<std::string> arguments, std::chrono::seconds patience) const {
  return testing::run(cupel(std::move(arguments)), {}, patience);
}

std::vector<json::object> RackSite::ask(std::vector<std::string> arguments) const {
  arguments.emplace_back("--json");
  const auto ran = run(std::move(arguments));
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  return json_lines(ran.out);
}

}  // namespace cupel::testing
