#include "burnin/agent/burn/links/surroundings.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace cupel::burn {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file{path};
  std::string text(64 << 10, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::string with_environment(std::string parameters, const Variables& set) {
  Variables conf = parse_conf(text_of("/etc/nccl.conf"));
  if (const char* own = std::getenv("NCCL_CONF_FILE"); own != nullptr)
    for (auto& [name, value] : parse_conf(text_of(own))) conf[name] = value;
  parameters.pop_back();
  parameters += (parameters.size() > 1 ? ",\"environment\":" : "\"environment\":") +
                json_of(nccl_variables(environ));
  parameters += ",\"nccl.conf\":" + json_of(conf) + ",\"set\":" + json_of(set) + "}";
  return parameters;
}

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
