#include "inventory/secret.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "inventory/check_files.h"
#include "inventory/model.h"

namespace cupel::inventory {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Secret : public ::testing::Test {
 protected:
  Secret() {
    std::string made = (std::filesystem::temp_directory_path() / "cupel-secret-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~Secret() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::string file(const std::string& text, mode_t mode) {
    const auto path = (folder / "password").string();
    std::ofstream{path} << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  Result<std::string> resolve(SecretRef::Kind kind, const std::string& where) {
    return run_to_end(io, resolve_secret({kind, where}, Deadline::in(std::chrono::minutes{1})));
  }
  std::string error(SecretRef::Kind kind, const std::string& where) {
    const auto secret = resolve(kind, where);
    return secret ? "no error" : secret.error().what;
  }

  std::filesystem::path folder;
  asio::io_context io;
};

TEST_F(Secret, ComesFromAFileThatOnlyItsOwnerCanRead) {
  const auto secret = resolve(SecretRef::Kind::file, file("open sesame\n", 0600));

  ASSERT_TRUE(secret);
  EXPECT_EQ(*secret, "open sesame");
}

TEST_F(Secret, IsRefusedFromAFileThatOthersCanRead) {
  // Root may give a service's group its secrets to read: mode 0640.
  for (const mode_t mode : {0604, 0644, 0660})
    EXPECT_THAT(error(SecretRef::Kind::file, file("open sesame\n", mode)), HasSubstr("chmod 600"));
}

TEST_F(Secret, TheKeyOfNodesIsOneToo) {
  Inventory inventory;
  inventory.nodes.emplace_back().ssh.key_file = file("key", 0644);
  const auto open = check_secret_files(inventory);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_THAT(open[0].what, HasSubstr("may be read by others"));

  file("key", 0600);
  EXPECT_TRUE(check_secret_files(inventory).empty());
}

TEST_F(Secret, ComesFromTheEnvironment) {
  ::setenv("CUPEL_TEST_SECRET", "open sesame", 1);

  EXPECT_EQ(*resolve(SecretRef::Kind::env, "CUPEL_TEST_SECRET"), "open sesame");
  EXPECT_THAT(error(SecretRef::Kind::env, "CUPEL_TEST_NOTHING"), HasSubstr("is not set"));
}

TEST_F(Secret, ComesFromAVaultsClient) {
  const auto secret = resolve(SecretRef::Kind::cmd, "printf 'open sesame\\n'");

  ASSERT_TRUE(secret);
  EXPECT_EQ(*secret, "open sesame");
}

TEST_F(Secret, IsNotPrintedWhereTheVaultsClientFails) {
  EXPECT_THAT(
      error(SecretRef::Kind::cmd, "echo half a secret; echo sealed >&2; exit 3"),
      AllOf(HasSubstr("exit status 3"), HasSubstr("sealed"), Not(HasSubstr("\nhalf a secret"))));
}

TEST_F(Secret, IsOneLineThatIsNotEmpty) {
  EXPECT_THAT(error(SecretRef::Kind::file, file("\n", 0600)), HasSubstr("is empty"));
  EXPECT_THAT(error(SecretRef::Kind::file, file("one\ntwo\n", 0600)), HasSubstr("more than one"));
}

}  // namespace
}  // namespace cupel::inventory
