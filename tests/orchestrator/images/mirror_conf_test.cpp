// nginx's configurations of the image store and of a rack's mirror.
#include "orchestrator/images/mirror_conf.h"

#include <gmock/gmock.h>

namespace cupel::images {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(StoreConf, ServesTheCompressedDisksAlone) {
  const auto text = store_conf("/var/lib/cupel/images", 8082);

  ASSERT_TRUE(text) << text.error().what;
  EXPECT_THAT(*text, HasSubstr("listen 8082;"));
  EXPECT_THAT(*text, HasSubstr(R"(location ~ "^/images/([A-Za-z0-9])"
                               R"([A-Za-z0-9._-]*/disk\.raw\.zst)$" {)"));
  EXPECT_THAT(*text, HasSubstr(R"(alias "/var/lib/cupel/images/$1";)"));
  EXPECT_THAT(*text, HasSubstr("location / { return 404; }"));
}

TEST(StoreConf, RefusesAFolderThatWouldEndItsString) {
  for (const auto* folder : {"/a\";}b", "/a b", "/a$b", "/a\nb"}) {
    const auto text = store_conf(folder, 8082);

    ASSERT_FALSE(text) << folder;
    EXPECT_EQ(text.error().code, Code::kInvalid);
    EXPECT_THAT(text.error().what, Not(HasSubstr("\n")));
  }
}

TEST(MirrorConf, FetchesEachPieceOnceAndCachesImagesByTheirDigest) {
  const auto text = mirror_conf({"http://10.0.0.1:8082/images/", 8080, 50});

  ASSERT_TRUE(text) << text.error().what;
  EXPECT_THAT(*text, HasSubstr("listen 8080;"));
  EXPECT_THAT(*text, HasSubstr("max_size=50g"));
  // nginx makes no parents of it, and Debian's package has this one.
  EXPECT_THAT(*text, HasSubstr("proxy_cache_path /var/lib/nginx/cupel "));
  EXPECT_THAT(*text, HasSubstr("proxy_pass http://10.0.0.1:8082/images/$1$is_args$args;"));
  EXPECT_THAT(*text, HasSubstr("proxy_cache_key $uri$is_args$args$slice_range;"));
  EXPECT_THAT(*text, HasSubstr("proxy_cache_lock on;"));
}

TEST(MirrorConf, RefusesWhatIsNoAddressOfAnImageStore) {
  for (const auto* from : {"", "10.0.0.1:8082", "ftp://10.0.0.1/images", "http:///images",
                           "http://store/images", "http://10.0.0.1/;}", "http://10.0.0.1/a b"}) {
    const auto text = mirror_conf({from, 8080, 50});

    ASSERT_FALSE(text) << from;
    EXPECT_THAT(text.error().what, HasSubstr("http://10.0.0.1:8082/images"));
  }
}

}  // namespace
}  // namespace cupel::images
