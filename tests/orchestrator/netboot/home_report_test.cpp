// What an installed system reports first, of whatever length.
#include "orchestrator/netboot/home_report.h"

#include <gtest/gtest.h>

#include <vector>

namespace cupel::netboot {
namespace {

TEST(HomeReport, AnEmptyABlankAOneByteAndALargeBodyAreAnswered) {
  for (const auto body : {std::string_view{}, std::string_view{""}, std::string_view{" \r\n\t"}}) {
    const auto read = parse_home_report(body);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kMalformed);
  }
  for (int byte = 0; byte < 256; ++byte)
    (void)parse_home_report(std::string(1, static_cast<char>(byte)));
  constexpr std::size_t kLarge = 256u << 10;  // as the boot server takes
  for (const char filling : {' ', '&', 'a', '[', '{', '%', '='})
    (void)parse_home_report(std::string(kLarge, filling));
}

TEST(HomeReport, IsReadToTheEndOfItsBytesAlone) {
  // A body as it lies in a buffer of the connection: what follows it is not of this report.
  const std::string_view buffer{"pub_key_ed25519=ssh-ed25519%20AAAA&hostname=n1&hostname=n2"};
  const std::vector<char> exact{buffer.begin(), buffer.begin() + 46};

  const auto of_buffer = parse_home_report(buffer.substr(0, 46));
  const auto of_exact = parse_home_report({exact.data(), exact.size()});

  ASSERT_TRUE(of_buffer && of_exact);
  EXPECT_EQ(of_buffer->at("hostname").as_string(), "n1");
  EXPECT_EQ(*of_buffer, *of_exact);
}

TEST(HomeReport, IsJsonOrTheFormOfCloudInit) {
  const auto form = parse_home_report("pub_key_ed25519=ssh-ed25519%20AAAA&hostname=n1");
  const auto object = parse_home_report(R"( {"ssh_host_keys":["ssh-ed25519 AAAA"]} )");

  ASSERT_TRUE(form && object);
  EXPECT_EQ(form->at("ssh_host_keys").at(0).as_string(), "ssh-ed25519 AAAA");
  EXPECT_EQ(form->at("hostname").as_string(), "n1");
  EXPECT_EQ(object->at("ssh_host_keys").as_array().size(), 1u);
}

}  // namespace
}  // namespace cupel::netboot
