// libyuv's own umbrella header pulls in its C++ and MJPEG parts; only what is used is included here.
#pragma once
#include <libyuv/basic_types.h>
#include <libyuv/convert.h>
#include <libyuv/convert_from_argb.h>
#include <libyuv/cpu_id.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/scale.h>
