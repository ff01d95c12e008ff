#include "burnin/agent/common/json_line.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <limits>

namespace cupel::agent {
namespace {

namespace json = boost::json;

TEST(JsonLine, IsReadBackAsItWasWritten) {
  JsonLine line{"fact"};

  line.add("name", "cpu0").add("ok", true).add("mhz", 3700.25).add("count", std::int64_t{-3});
  line.array("gpus");
  line.object().add("index", 0).end();
  line.object().add("index", 1).end().end();
  line.array("words").item("a").item(1.5).end();

  EXPECT_EQ(json::parse(line.text()),
            json::parse(R"({"kind":"fact","name":"cpu0","ok":true,"mhz":3700.25,"count":-3,
                            "gpus":[{"index":0},{"index":1}],"words":["a",1.5]})"));
}

TEST(JsonLine, IsOneLineWhateverStandsInIt) {
  JsonLine line{"fact"};
  const std::string hostile = "a\"b\\c\n\r\t\x1b[2J\x7f \xff\xc3";

  line.add(hostile, hostile);

  const auto text = line.text();
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_EQ(json::parse(text).as_object().size(), 2u);
}

TEST(JsonLine, HasNoWordForWhatIsNoNumber) {
  JsonLine line{"fact"};

  line.add("a", std::numeric_limits<double>::quiet_NaN());
  line.add("b", -std::numeric_limits<double>::infinity());

  EXPECT_EQ(line.text(), "{\"kind\":\"fact\",\"a\":null,\"b\":null}\n");
}

TEST(JsonLine, ClosesWhatIsStillOpen) {
  JsonLine line{"fact"};

  line.array("a").object().add("b", 1);

  EXPECT_EQ(line.text(), "{\"kind\":\"fact\",\"a\":[{\"b\":1}]}\n");
}

}  // namespace
}  // namespace cupel::agent
