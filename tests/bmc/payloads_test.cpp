// Error bodies that real BMCs sent, of several vendors.
#include "bmc/redfish/answer.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captures.h"

namespace cupel::bmc::redfish {
namespace {

/// Vendors' manuals show headers above the body and leave parts out ("..."); those that are whole
/// documents count.
std::vector<std::string> error_bodies(const std::filesystem::path& folder) {
  std::vector<std::string> bodies;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
    if (entry.path().extension() != ".json") continue;
    auto text = read_file(entry.path(), 1u << 20);
    if (!text) continue;
    const auto parsed = parse_json(*text);
    if (parsed && find(*parsed, "error/@Message.ExtendedInfo") != nullptr)
      bodies.push_back(*std::move(text));
  }
  return bodies;
}

TEST(Payloads, EveryErrorBodyIsAnErrorWithItsOwnWords) {
  CUPEL_NEED_CAPTURE(archive, "payloads");
  const auto tree = archive.parent_path() / "_payloads";  // as it names itself
  const auto bodies = error_bodies(tree / "errors");
  ASSERT_GE(bodies.size(), 20u);

  for (const auto& body : bodies) {
    const Response response{.status = 400, .body = body};
    const auto answer = understood("a01-n01: POST /redfish/v1/X", response);

    ASSERT_FALSE(answer) << body;
    EXPECT_THAT(answer.error().what,
                ::testing::StartsWith("a01-n01: POST /redfish/v1/X: HTTP 400: "))
        << body;
  }
}

TEST(Payloads, HuaweisSuccessIsNoError) {
  CUPEL_NEED_CAPTURE(archive, "payloads");
  const auto tree = archive.parent_path() / "_payloads";  // as it names itself
  auto body = read_file(tree / "errors/huawei/reset-system.json", 1u << 20);
  ASSERT_TRUE(body);
  const Response response{.status = 200, .body = *body};

  EXPECT_TRUE(understood("a01-n01: POST /redfish/v1/X", response));
}

}  // namespace
}  // namespace cupel::bmc::redfish
