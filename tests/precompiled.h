#pragma once
// What nearly every test includes, read once for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/precompiled.h"
