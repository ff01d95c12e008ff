#pragma once
// Settings as the stages of cupel-node change them, on a virtual machine's disk. Everything there
// is root's, and nobody else can exchange it.
#include "burnin/agent/node/stages/settings.h"
#include "rehearsal/shell/process.h"

namespace cupel::rehearsal {

class VirtualSettings final : public agent::Settings {
 public:
  explicit VirtualSettings(Process& process) : process_{process} {}

  std::string unsafe(const std::string& path) const override;
  Result<void> make_folder(const std::string& path) override;
  Result<std::string> read(const std::string& path) const override;
  Result<void> replace(const std::string& path, std::string_view text) override;
  void remove(const std::string& path) override;
  Result<void> keep_program(const std::string& path) override;
  Result<void> set(const std::string& path, std::string_view value) override;
  std::int64_t now() const override;

 private:
  Result<void> put(const std::string& path, std::string text, unsigned mode);

  Process& process_;
};

}  // namespace cupel::rehearsal
