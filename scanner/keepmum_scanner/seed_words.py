"""The English word list of BIP-39, from which wallets and password managers draw recovery phrases.

Source: https://github.com/bitcoin/bips/blob/master/bip-0039/english.txt, read 2026-11-22
The list is under the MIT licence, copyright (c) 2013-2016 Pavol Rusnak; NOTICE repeats its terms.
"""

from __future__ import annotations

# The words in order, compressed; a scan that meets no run of short words never reads them.
# fmt: off
_COMPRESSED = (
    "eNotmwmWrCoQRLdSW3NApUvBz1B29ep/3OCdPhWJighJkhP0NE9pzek1zfGM7St6BkHuDfxQriFxUXOZIa1Mi697WUV6VZ1lCbVC4urKy5L7oOPxEQNN"
    "6bEg99riosJ/PRbuluyXqd8ifVlaLmAZrbY+na9pnW7VWFd+cXFxPF9/1KDIFcF+gp8pLQEaIaHkmS9u2xQLJNP1rUz0Z5+iPrkHfvR5L0HlI0x6Fq+X"
    "34jlzkXPYoU751R0/5w7uOQjq3dn4PkZg9o6uT7DF8yP8Mp08MyJl+9jEha1T4WaBS3oG+czfTWaa2qhF+hfTLtoHmh+XmKnupWm80uLaTlgVFqie552"
    "2kk7fUx7UfMpXrAuvX0rqZHFBTM05Xb4hfqYtJDSBI3/dWr9xoBAJP3uidHd+cw7V3eYCoRW77tYTO4S1WZZDsDzqyECtFl2WoRr5WIA5aLf5VJjRZ3i"
    "TqH70MDISokfX8E/vl1a2CwipUVXaE8u79dU+d2BJ7VOnvxag9H1au2XGqrtuNSPdpyh6bJldaW1aXlDAh1oLba+8uyfgPd/wthX5KrvFjLPQm9me28Z"
    "6JcqfUKxCH3yMq0Zimg90zuAxajBPqFmuvNsXcx63nqkar+xvuZp/gqWI5xqWwV9ep5WtTlPu36nBXpG3hIVJWPzdM05iyT9QVLgTf/CSaVi2Z5hKtUr"
    "DVRNjfAtHs0aq6ZwDvosmICuOZ/DMrFwRenuHMIm0KqhvNNkODRkSBTv5nB6fYtquoRqOiS3mcIWuaqAGEvbDXEXeUKgpW+mibh8F/oSKb8p+O6QuDkW"
    "LkpTk3G8fjJ3Qs2Y8DImD+qc+NgZJp6jIObTbZ05G6umAOoBnt1Ag72q9cyECNVC1vqcs4R6ztcs0OIVdLWX8xvgM1Ik9CYX1qoI8jqjzubcELJ5LLk5"
    "/+qn9iRa7mTxxEjmV5D6xQxFLYDhj4vIGEu0FJTIJJS4H7zuz5VYeZ6lbc9I4Q1DS05+OfP5Mta46MMjj7HP6Pi5rwywq3E12KUaT8lSj6e+388ZeAOn"
    "H6fVr4jDakyKnw/1so8rGAFfeo3JDO+VlsdE9a/x7++1TPPMIhHV4BdbmgXtXkV8/w1IsgWX4NKigtwCXpDaA5dgot4v6DQ/ybyZPhNNpa/v3f8+cMfm"
    "9+42+bOF3+wqmmvBnsFb4xQptFooVl4WvwQxUaU2t1e7m6OKGs47dKFaC3v2621U7EzVWEhCK5OFSV6CTK3mT+MI1A8X2nsJqcIJlbvvShROyOj2gR0S"
    "alKE1+3WDutMkVzBG4aLlnGzGtWybNkNLrwbgu9LmAQe7sHqlIleEB9MNY+QA+GVAjUyZlQk+11JmJTIcvQFuyKaaLgXvR13+BtlSC46GAuLeokt/tE2"
    "DsYSP1pTy4ltFd5AidsX+gCU0EVCKXjhh1GdrIXltKET2TZQ61LozpyRlrIrMSenu3pK/MG+gg+Ndt7pyJRWvBl2ds9fngbCjCwt26FSL0vetgCh25m5"
    "yFoUC09R1UIsgBSlpJpql2HDXxClb/kyM/J1Y0zVNLMKXbubSVuUaRTd7dCokEb7qUbUiwqtZL6ePhF1sqCBBNySMabGTcMFiUFLC/ig9L7b8ZCkj7jX"
    "PUrZMaY+d2y4SKkm1cMzw/M3y1IuKCyQ9S+yNfACkm+wQMpkPpbpOcE/NSzhpVLAdooE2giaXlQaC61E2CQFdoO4C/ICKaM7he6llJbmrfQlMq7SgzHS"
    "1dIvr+7Sk2t294MPyzGidp/1VO5Ahxv95jeU+9JLzCy0Lu4gTP3fCuuFtamGvLQkG9KfS4cHtkyrFPMqr2ynKPFZbZDX4XStkzXyCjtWL3zflMCtkueV"
    "lbwGmdsA0ahFFkyXSLhm6gZcZ8iJFInmMqrDykrBtTZpCS62UWujcTusazj9pTN+XPHCtIhEV0/RPUj2nUSpaZ9OJLjinWv0pRaMEC9AoocTtoaqKZpd"
    "CH6lxj1B3sCNYhKVhPKKeMmXGoK3aumemlVR9IcIIrVGudiSjtV9iiiKFarZW10t6js8kZysWugMJ+5W4qIJHbLGM1zy59Zon0cky/ejYIEXAepw5VUY"
    "Iq3CYGVklmIVbyp02HAVbrNQLBpTCydp5+OZiZ9cfPdP8r1mhygi3cp7lcpZpRaAWz6R6DWZJM9iluHkreSXDHQkd4R4xX9evbaEu6RPhNFpdbEyRB8B"
    "K2pEPKv0JXUjH5TgvcEbcENwXOtDoE9KRwukKNeOxPQhp/iyq9Xe6pmWH7q91q+0tr4XJkRaqL7J0ZcnKUyAZEMcjL6jFgQqySwIhqMmmrK8+oDL4sUf"
    "1ANYEDZrxLDvr2AfJkR7JuGc5TKFc3VZs1fowRl2xSFQs1dUUdMofCY4Lzmn0VNc1AKaZChE8NhEpLK4GzCD4co2vOG6z8zTOxPsiGrYCk3gv4iEhmUQ"
    "cHPEYNGMRpT7ymAkY4wtbZaAkHaUgAhrMKTD0hLSD+2nkxUWFGnt4lXSYEwQDex7oSK6gaU4LgpveZ3o8pY0StjCf/gYQs0qPpB+9Kb4mVSkRyRfU+2U"
    "rqhYK3TidUVAXzC4R5JjeKTP4TiFJguvoSHNfowZ1op8U8ynJCf8mg+/0m5w5dcxvcjwMlQwy39lL1dTHJvwG6wjRcsSfeOYkC7RODP/v9GNmS2/vpER"
    "6vB7o6FEgj96mx2/WoJaNqLZbd1l9MEhmgi8+AZ+eLSvbcJHFtF4BFL3X9GViyhpEUpiNzxKQeX2ZUCCN2LqKpL4LdxIDYHeiFO3adiBbaIZdI8QeRWJ"
    "BLObY81NgV6BLVuYbGo2dayjyrYgiea1wE3FvAKuFI9zgxnYNEPx4zqsxM2OziYruUVMwhZHALpFrQ7h7vbhpuACmmsxuRsRjm2CYB+30XJb9DsMKOKm"
    "b9KFru5nXDd77Fv8fW2nAs3NsZSQCieDPxmiCOM4vXI3fK3tzH6KxyV0FS+t7eyK4TaHUxt8ztJbmxSlviItueFGbZkRZWdHNsIygRrz8iLKrL4gMNkI"
    "8tEcaC/RTlvFYfMmV8Ft2YvbnEbYFGdt0qHmUvFQipYROkQFeqQwinqoQR7SI7mzPMZL2hwnCXFXN/kauoXbsfXET3Zzk5trccNJ37onfZ8cRDnY3hWp"
    "/34hdu53+rDLy5VfjNYQmf9RYigRObYQ67ld8Yt+1G7UscTt8ie4UFC3o4o0f6JR/BQpvkm8IdIRgF3cc6cOBrRH1OaOvdjjjkbfh4DsUQZn47KoPQzH"
    "rmAaQDRFilGysZ/YP+F1V2iejfKOhAzxzH5bc7kTTu8Ixp7XFcHamemdKd4dPChCktWaROstvu7MoYaLfRY3YL58gxmgF46ShQyhoOF2x8rCD26AzDuf"
    "KuQRdoXJgIIXIXfz4gmQL3mD6l0he7N3hEdLmIa6h6agl/tyMcQXzfT+vV7HhPZy1KWgaxNcsigQi9uB8lLEJbf7IJrkTuFOkZAJP8gwwZfzJMf0vAV/"
    "rkKELzilmg5sKvhRM9jMQ/J4DPt4BC0P8Aq+uAVJv6KbcUV4DtUTSLsdaLtDjDxY74d0LRNz5HkGF3yPg4kQBCDilR5j/R0ELEdOrpOpc3Ot6TiyTcxh"
    "UyhpGoG0xeqQI0ex8xi1dSisOpDTo8vzBLGsIjSglalIAEpS8mAWFC2urlB8By70OpupXzIeLzzBSBJMMzS9nFYmSIy8JS+QIIeR6ydXwdSKLNpBj1e0"
    "7YuaM/xlUfSHJBgLJ5J9c2QuRTvGIRJJCGzeROGLyHC/pV/DLxjtzaiAyhORrdMIYsJ6QE5S0xFX4RI50PYiAZGUSm74vDH9BFf66X71Gi3iyQozGQAV"
    "5IILSZFTpxJuiYwXCQshNpqiDRMnGfDo8C+QPhWy4DPKn+iPDEsfC4ytJ/yWx3G6A7Vq8aqW+v1BfH5GqupnYsWI8Pv7e/1IdDGcogk8peN/wiNx+Mmz"
    "flqxPzgVPxIOhAq36Icsk5BJ/SH2/unOUotEsfGHBIKT+G+5GlPJ+fVmTQtugYxjh35fb5IAb0mHfsnXiXLa5W6Lav7f4rN+C2vlzZDf5AspP/H1TjJi"
    "7xQ3EMMlfF6n9I1+GoBQvZEaxBk9yc+fpKROwj3xSnzYubpb5rr4orlq06hP4j4w4XjLbE4vMhonUaCgYkwUYLi+QohTeoBymDZA602oucEHRn+fQTpb"
    "wv0aAi7EcJ0h1vGUlMI5bqVdukSkCvKNksGL9XPn4EihqAWFWAK5FlKdogU3ReLqFXLClBMzMWz8SQ7WCZaTxSTUFJ24I2f8DwNvP1dOOKaHmFNg9Sa3"
    "wKCKebaqlItA/+G3YgRZO/ZBJDQnGxuyI+Jlppvc6bzbMc02KnLZeVUxjB723X732R0wnz1NRi3as/+yks5vwcO92G7SarnUEWkDfVCYJMkX2z0X8alj"
    "s2v60WxfzPAl5T5xm7uJrxA+sypE9wza5xbtroeDfEnvD6IuCHe3Wcany9sfLCWO1hQrX5guATy5nDJk4ZfoBpuvitywa2qjxm+85O1c2P1LsiJJvUiL"
    "CSwBF7bvCnjnDDGstKOQaxKeREIXefhrpBdEWNI4GR6HfAVBWbiFHF9WUJfzgRd+0kUs4QfN7bZDpuGS3WHEWnwWEvnRb8BycUVix4sVKRh9j8S7QiKE"
    "Sw7H4rdtVUhM8DEW7UXIzTQw/PgbaOHXi+DKM67cpcDnBDEBl9a6fmhJrYFINHiN+FpkcFcOnYaQ6ZVzYld2WyUR/F65SoKlG6+RG/8XIYq4JVknS4f3"
    "By6kUBCFpKSuvm087HRKAUC8JchXrx6YXmDQcnyde1cBhqDWru4tzOtbg1wJEYv79VUv08TiSbiJabqly0S8i5AkKV+hO5dGdJHYd0vkcRMhRZJmaH49"
    "7M5Ipn9BdVK4rDhCFsUPK0/8855ZCr3BleSAI4WnCn71HPU8ZjZlRDtlIjoF9BHFmeQd+GZhrYjQ++wKbRrVm+GAy4koj0tUD2o2ddK6+t5Yv8kpR5Ks"
    "eXq/5FN+BbaL+nSU5El7LIxZ1MPIs+clzx+n7/Kip0KWBMkY2syK2l952/gFl+hC3jAAhB35LbcHPyhbY+Xze92aooyCIyn7Yo9HIiWG5+Q8nIjeuHn/"
    "JhDPdxyPb7sQ+fbs5LF3mQsuo4IYu4IjqyRUgKbJVjhDT4sT2CK747ZcyGu85FI5UzAEMvdm70J0XOEKiNjqZwJGMTW97HfhMetH6fe7c9fC9cp/jMXu"
    "zj151d4sZyfrboUoC2VFkQThE6hZuq1JhO7FPd3GQjx9T86V3iRabuTTZcnnjVK7rc1ulJggjprOWN9WZkmU1XRj3+7p67V7B3dC89d9UYA6+YmskrgC"
    "2/WbiOpFF83gLfvGWIKz3vptSIwoUyiC0WMj5z48fLmpWejsyX18tR7FvFshke7GxaONw9reMdCbuPMLtIJ3KWCk2D42XEjB3vGmnjxsHnvc8e9PLBw8"
    "lZvA58+RubvtWTmtqG67F6dTYzc2DdwBhOfOcrwEejnjzd/yygrII6y0iFTrze7vTeb/znJbXaVYCJ3A/VeocfZ7lXbkCWeIdc6N1MDP/CCeIxt2s+Ht"
    "TyjgopPk7eFrCZsfkyv2bR8FEW00UaQ/fDleRTqFF9IuOp6QHfGlZ6bEjxlS4h+IkrmgzjSJrt0tZVITIk4Ti1otiF7ZL+e8gfcYSCGSpJO5/asmJwLP"
    "3v3pM/H13dcVpSSOncD9Gi7/LV8UlXvbjbj7jYh1grq7l7GDpoJH0ItX/G21dZPcYFXe/e8PTn/VUzkXpO2oLZqabIFoYTX+10n1iAMyPJp3zA/wJ2BI"
    "injRHIVjM6rk2Nf7Llp7mmFhzEJ1zgHxmCRpcOmmgm9aOAgC4gYPXaRoWf0pTJv3EcrIJbDJTAOPfn9SMeMUincaiXP4eMATFnonuATvx4oENKYo4l/Y"
    "nfBD74yU4HmTsNgIleDgR4Q1X8Ie3azCdJ7tFtoSfkbVc/oFvTYKxwi2l88ulGAfTWQ4MCrgWYhk9yOtvinj9bJmKsFaGkmNPLjxjkS8KkXJPZMJImCS"
    "GC/dJDhKVQFnVkQhi6tXLTN3qJLkU8fHa62MVhtbnSX0NEb2GeyTk0BnnJsqh2y7eBBnfmw2e5FYyXuhjE39Eje+b5OLSdCLiKmWDdc+X+M9fokg/kNx"
    "trB4h6fgZxfvVmodZWP3haM2LRYncrxYBO/osrqEFJfs8Lg4Sz0O4BSsjRCHu/TZPCcQLlJRBXen9MSPYyyl4z5UdaAO2yLi6LtOGxeRh6cfn4QplaNP"
    "YAP4TsXfqSPRXIlCq+xGlXMnmusRRREpob3QiuEgt032MoAJKC7aXa4KY7g6wmWChqwci6KVRU5mLuqexNYb5ypo8dZFqwQk1mSP6/a9Pr9qmPjh2Nex"
    "LCozX9neWCHIMrG4GwvL0BEVn6yy11nDbhtXvaMBUW+QYIm+VCgxb3XYhT4dfZQDHirEW2VV3BxtO8ASUQRc0bevejgWEFGwJnQSRxRmHHTg8NdIOcgT"
    "Ei/JHou4Nj5NJVEkQIoq2SGQ2+RghTxkuQi7t2UqKR6hdDvPkIh6yBGmY4eGHWcfZ6ioNvsoNQYmzWLtvcIqJx52EC8ITl46/X0FDegDUYuCd7fraK0w"
    "2GhvpiL/iI0ChIrtqG9fOjcgEvkxapS5gN6/0fWV4F5wCUgm1HNojmqLWp3ZrCPiFaFWxk2rmP1qxjqPXS+0oJCGLyKSepHjEHLAoCaUtZBbCZlK5j1u"
    "b81cy1vlq9k72dU8z/K7amZWbOmFa3QddQocB0aq8zUcGsOhqYTMNfs+oVr1PGmaACSTXOc/LSZC124UYLX9rjhnfP8mJSGrKcebo3PjnoX3tux4S7gq"
    "hPBL5tTtgwgib1/weiRkrPdpxL221kS0b/fQOlcIcPBLSOqz3tZxVUa2Yh8DxOedCMt8Uq2OeEJkjbKionCzWRMoCGAlN+weG7UryIes0YRqtnlkLbip"
    "QANMPWmx/MIv46HFpbknzfPRMokDKIxuViBOowqZgoYd3bmUvuB7xbyQm+s2tCp297n7BKyo+zzyoIrkwD4CHFHcVRGUae3j8Gwlvqzdmd3aHcDUzmka"
    "ITn9lxNItTsNXTuV2I8Qctyx9tu3bwJSkWI9iGcr8P5Y5bgWiDPmwlD8lXMPvDNOUYo6zqrPP83ymNPPZJBdrw++upCvPlYrDyvnMS8fu8T1wT+o32uG"
    "i4qyOEtRvwXp/HpKxgxzANNkf/ncQJusJxqnnDS3wM1jbwU1kiiN/ImwaYJEfuOr+fRiY3e8Ib0Ee/oRSHCgNVYI5UKFSkmxbjvcPBn6ZpvRyBgKmPFm"
    "yRdSZFhCNXNkn+hqB6cKhHhEImJSI98NWrm0ccaloVxa3H3n5NqeTOPkiwRPbUsP41msQidfW0TZNxt1RbS4g6Lk6oWys3o581zcOHwROZzXfOwP8W1U"
    "v8YhRIuxgL1KEas4C3WzyiKFqZ98Y+Htr2LthInzq6LNwX/jPE7LJIGa9Ep0z+ziNIcOjQC0ZfXQDmtztNjYWqLp4vRbs9cqTBWpbljd5pNDDX/0fPlc"
    "6HCumnmLfydEMTUfPWk+CinczU5ZIoBmsuI6iE9SaBW6Wnfx5IE8fHhU8I2EDJ0Z5nhQ6yNg+rdIW08TQCgsD4+Ekh09gaflCahikSRb3x7UojABtP2I"
    "a1+k9Xs7zOy7vq+WpdDO6dXHUQMRnwZWvOGrcTBliI0wC3xEXYQ8RU9ji0mepn1qUY5mizRA71auSGMnUedYe5K0CbvPKfb0CVzezmb2e/cE9dvbQV0K"
    "W4Dm6DdapJdZ1s+KYjheePA+ci7gyHLHo5FE/Gu8jf8Z+EwLy02kS11/JmROnqrs2Gecgxf5cCvxY+/5M8k6CMdRrA8C//GG+iccEdZ8YDaXnMSAOEoX"
    "pelQZoBkICxgDj8Etx+OPpwiWux8K5rnH1LddC8u42txsV4nQMwve+0f9iR3qqY2qKwwDRT73aJ+r05ApKk67jfjh5E6y/3xQUkf/v7kk3OpUE6g++jT"
    "R+61mn/+gfr9TGruQd+hbwHSIQ/95UwOsmKt+5BKFicels3DFvFjTfh4A+LBP8aYPGNfUYSptaZ+iK1OiJXGE2b9RjgsHf5mpT2B89WSb+95PSjJR8x/"
    "vHv1oCOfIwykJTTlYxX54EoKHIE/6DsB32c34SGAfLCzrJKHLbMHwhM+TlblGdtejzetRGgzVsLYB+3zICvPvzMKTz43AUn6J3vFPOxXPig12xsnNwWn"
    "i5rhxznKB33zFLKmDxtjjMmK7PHJjccG/ItK+8Kvb7Dd++bOj0d2pP6CpEhY8suptb+c/wcWUi83"
)
# fmt: on
_cached: dict[bytes, int] = {}
_SIZE = 2048  # words; each stands for eleven bits


def numbers() -> dict[bytes, int]:
    """The number of each word, from 0 to 2047; decompressed at the first call.

    Raises: ImportError when the list is damaged.
    """
    if not _cached:
        import binascii
        import zlib

        words = zlib.decompress(binascii.a2b_base64(_COMPRESSED)).split()
        if len(words) != _SIZE:
            raise ImportError("the list of seed words is damaged")
        _cached.update((word, number) for number, word in enumerate(words))
    return _cached
