#pragma once
// Settings of a real node: files of the kernel, and those that keep what was before. Follows no
// link at the end of a path.
#include "burnin/agent/node/stages/settings.h"

namespace cupel::agent {

class NodeSettings final : public Settings {
 public:
  /// `root`: where the node's files lie, as Tree has it.
  explicit NodeSettings(std::string root);

  std::string unsafe(const std::string& path) const override;
  Result<void> make_folder(const std::string& path) override;
  Result<std::string> read(const std::string& path) const override;
  Result<void> replace(const std::string& path, std::string_view text) override;
  void remove(const std::string& path) override;
  Result<void> keep_program(const std::string& path) override;
  Result<void> set(const std::string& path, std::string_view value) override;
  std::int64_t now() const override;

 private:
  std::string root_;  // without a slash at its end
};

}  // namespace cupel::agent
