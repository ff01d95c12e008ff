#include "burnin/agent/burn/links/surroundings.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace cupel::burn {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostConf = 64 << 10, kMostLog = 16 << 20;

std::string text_of(const fs::path& path, std::size_t most) {
  std::ifstream file{path};
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::string with_environment(std::string parameters, const Variables& set) {
  Variables conf = parse_conf(text_of("/etc/nccl.conf", kMostConf));
  if (const char* own = std::getenv("NCCL_CONF_FILE"); own != nullptr)
    for (auto& [name, value] : parse_conf(text_of(own, kMostConf))) conf[name] = value;
  parameters.pop_back();
  parameters += (parameters.size() > 1 ? ",\"environment\":" : "\"environment\":") +
                json_of(nccl_variables(environ));
  parameters += ",\"nccl.conf\":" + json_of(conf) + ",\"set\":" + json_of(set) + "}";
  return parameters;
}

Taken read_log(const std::string& path) { return parse_log(text_of(path, kMostLog)); }

Scratch::Scratch() {
  std::error_code failure;
  std::string name = (fs::temp_directory_path(failure) / "cupel-nccl.XXXXXX").string();
  if (!failure && ::mkdtemp(name.data()) != nullptr) path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string Scratch::log() const { return path_.empty() ? "/dev/null" : (path_ / "log").string(); }

}  // namespace cupel::burn
