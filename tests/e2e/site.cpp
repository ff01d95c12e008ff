#include "tests/e2e/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cupel::testing {
namespace {

std::vector<std::string> addresses(int nodes) {
  std::vector<std::string> all;
  for (int node = 1; node <= nodes; ++node) all.push_back(fmt::format("127.70.1.{}", node));
  return all;
}

}  // namespace

Site::Site(int nodes, Slurm with_slurm)
    : count{nodes}, sshd{std::make_unique<Sshd>(addresses(nodes))} {
  std::string made = (std::filesystem::temp_directory_path() / "cupel-site-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
  folder = made;
  if (with_slurm == Slurm::real)
    slurm = std::make_unique<LoopbackSlurm>(
        fmt::format("s01-n[01-{:02}]", nodes),
        fmt::format("NodeName=s01-n[01-{:02}] CPUs=2 RealMemory=1000 State=UNKNOWN\n", nodes));
  for (int node = 0; node < nodes; ++node)
    bmcs.push_back(std::make_unique<test::HttpsServer>(
        test::HttpsServer::Options{.serial = fmt::format("437XR1138R{}", node + 2)}));
  std::filesystem::create_directory(folder / "profiles");
  write("profiles/lab.yaml", kProfile);
  write("qualify.yaml", kPlaybook);
  write_inventory();
}

Site::~Site() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::string Site::name(int node) { return fmt::format("s01-n{:02}", node); }

void Site::write_inventory() const {
  const auto access = sshd->access();
  std::string text = "site: e2e\n";
  if (slurm)
    text += fmt::format("slurm: {{partition: gpu, features: [qualified], configuration: \"{}\"}}\n",
                        slurm->configuration());
  text += fmt::format(
      "defaults:\n"
      "  profile: lab\n"
      "  host_name: any\n"  // this machine is all of them
      "  bmc: {{user: admin, password: \"env:E2E_PASSWORD\", tls: {{trust: first-use}}{}}}\n"
      "  ssh: {{user: {}, key: \"{}\"}}\n"
      "nodes:\n",
      factory.empty() ? "" : ", factory: {user: admin, password: \"env:E2E_FACTORY\"}", access.user,
      access.key_file);
  for (int node = 1; node <= count; ++node) {
    const auto endpoint = bmcs[static_cast<std::size_t>(node - 1)]->endpoint();
    text += fmt::format(
        "  - name: {}\n    bmc: {{address: \"{}:{}\"}}\n    ssh: {{address: \"127.70.1.{}:{}\"}}\n",
        name(node), endpoint.host, endpoint.port, node, sshd->port());
  }
  write("inventory.yaml", text);
}

void Site::write(const std::string& file, const std::string& text) const {
  std::ofstream{folder / file} << text;
}

std::string Site::read(const std::string& file) const {
  std::ostringstream text;
  text << std::ifstream{folder / file}.rdbuf();
  return text.str();
}

std::vector<std::string> Site::cupel(std::vector<std::string> arguments) const {
  std::vector<std::string> all{"env",
                               "-C",
                               folder.string(),
                               "E2E_PASSWORD=" + password,
                               "E2E_FACTORY=" + factory,
                               CUPEL_BINARY,
                               "--state",
                               (folder / "state").string()};
  const auto made_for_nodes = std::filesystem::path{NODE_BINARY}.parent_path().string();
  for (auto& word : with_programs(arguments, made_for_nodes)) all.push_back(std::move(word));
  if (waits_for_repair(arguments)) all.insert(all.end(), {"--wait-for-repair", "0s"});
  return all;
}

Ran Site::run(std::vector<std::string> arguments, std::chrono::seconds patience) const {
  return testing::run(cupel(std::move(arguments)), {}, patience);
}

std::vector<std::string> with_programs(std::vector<std::string> arguments,
                                       const std::string& folder) {
  if (std::ranges::find(arguments, "--programs") == arguments.end())
    arguments.insert(arguments.begin(), {"--programs", folder});
  return arguments;
}

std::vector<json::object> json_lines(const std::string& text) {
  std::vector<json::object> objects;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    auto parsed = parse_json(line);
    if (parsed && parsed->is_object()) objects.push_back((*std::move(parsed)).as_object());
  }
  return objects;
}

std::vector<std::string> open_to_others(const std::filesystem::path& state) {
  using std::filesystem::perms;
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{state})
    if ((entry.symlink_status().permissions() & (perms::group_all | perms::others_all)) !=
        perms::none)
      found.push_back(entry.path().lexically_relative(state).string());
  return found;
}

}  // namespace cupel::testing
