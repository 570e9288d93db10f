#pragma once
#include <librtmp/rtmp.h>
#include <librtmp/amf.h>
#include <librtmp/log.h>
