#include "tests/support/slurm.h"

#include <fstream>
#include <stdexcept>

#include "tests/support/child.h"

namespace cupel::testing {
namespace {

const std::string kScript = SOURCE_DIR "/scripts/loopback-slurm";

}  // namespace

bool LoopbackSlurm::installed() {
  return std::filesystem::exists("/usr/sbin/slurmctld") &&
         std::filesystem::exists("/usr/sbin/slurmd") && std::filesystem::exists("/usr/sbin/munged");
}

bool LoopbackSlurm::rest_installed() {
  return installed() && std::filesystem::exists("/usr/sbin/slurmrestd");
}

LoopbackSlurm::LoopbackSlurm(const std::string& nodes, const std::string& lines, Rest rest) {
  std::string made = (std::filesystem::temp_directory_path() / "cupel-slurm-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
  folder_ = made;
  std::vector<std::string> command{kScript, rest == Rest::none ? "start" : "start-rest",
                                   folder_.string(), nodes};
  if (!lines.empty()) {
    std::ofstream{folder_ / "lines"} << lines;
    command.push_back((folder_ / "lines").string());
  }
  const auto ran = run(command, {}, std::chrono::seconds{60});
  if (ran.status != 0) throw std::runtime_error{"Slurm did not start: " + ran.err};
}

LoopbackSlurm::~LoopbackSlurm() {
  run({kScript, "stop", folder_.string()}, {}, std::chrono::seconds{60});
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string LoopbackSlurm::reported(const std::string& node, const std::string& format) const {
  const auto ran = run({"sinfo", "-hN", "-n", node, "-o", format},
                       {"SLURM_CONF=" + configuration()}, std::chrono::minutes{1});
  return ran.out.substr(0, ran.out.find_last_not_of(" \n") + 1);
}

std::string LoopbackSlurm::rest_url() const {
  std::string port;
  std::ifstream{folder_ / "rest.port"} >> port;
  return "http://127.0.0.1:" + port;
}

std::string LoopbackSlurm::rest_token() const {
  const auto ran = run({"scontrol", "token", "lifespan=3600"}, {"SLURM_CONF=" + configuration()},
                       std::chrono::minutes{1});
  return ran.out.substr(0, ran.out.find('\n'));
}

}  // namespace cupel::testing
